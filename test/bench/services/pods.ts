// What pods of an Application do with the credential of a service: they hold it, send requests by it at a steady pace, and end.
import { setTimeout as wait } from 'node:timers/promises'
import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { connectServer, type Server } from '../../../src/data-services/adapters/postgresql/server.ts'
import { connectStore } from '../../../src/data-services/adapters/s3/store.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import type { Servers } from './servers.ts'

/** Of the Secret of a ServiceBinding, by its keys. */
export type Values = (key: string) => string
type Ask = () => Promise<unknown>
/** Resolves when `use` did, and whatever it held open is closed. Rejects when the service does not take the credential. */
export type Holding = (use: (ask: Ask) => Promise<void>) => Promise<void>

export type Counts = { answered: number; failed: number }

export type Pod = {
  /** Resolves when it got its first answer; rejects when there is none. */
  readonly isServing: Promise<void>
  /** Resolves when its sessions are closed. */
  readonly stop: () => Promise<void>
}

/** One session with the database. Each request is one statement. */
export function databaseHolding(values: Values): Holding {
  return use =>
    asLogin(values, async query => {
      await query('CREATE TABLE IF NOT EXISTS visits (at timestamptz)')
      await use(() => query('INSERT INTO visits VALUES (now())'))
    })
}

/** Whether the server takes the login. */
export async function takesLogin(values: Values): Promise<boolean> {
  return asLogin(values, query => query('SELECT 1')).then(
    () => true,
    () => false,
  )
}

async function asLogin<T>(values: Values, work: (query: (sql: string) => Promise<unknown>) => Promise<T>): Promise<T> {
  const login = { username: values('username'), password: new SecretString(values('password')) }
  const server: Server = connectServer({ host: values('host'), port: Number(values('port')) }, login)
  try {
    return await server.asLogin(login, values('database'), session => work(sql => session.query(sql)))
  } finally {
    await server.close()
  }
}

/** A request writes one small object, or asks for it. */
export function bucketHolding(store: Servers['store'], values: Values): Holding {
  return async use => {
    const key = { accessKeyId: values('access-key-id'), secretAccessKey: new SecretString(values('secret-access-key')) }
    const tenant = connectStore({ id: 'bench', ...store }, key)
    const object = { Bucket: values('bucket'), Key: 'visits' }
    try {
      await tenant.asKey(key, async ({ s3 }) => {
        let requests = 0
        await use(() =>
          requests++ % 2 === 0
            ? s3.send(new PutObjectCommand({ ...object, Body: 'one' }))
            : s3.send(new HeadObjectCommand(object)),
        )
      })
    } finally {
      tenant.close()
    }
  }
}

/** A request begins `everyMilliseconds` after the one before it, or when that was answered. Every failure is counted. */
export function startPod(hold: Holding, everyMilliseconds: number, counts: Counts): Pod {
  const first = Promise.withResolvers<void>()
  let isOver = false
  const serve = async (ask: Ask): Promise<void> => {
    while (!isOver) {
      const next = performance.now() + everyMilliseconds
      try {
        await ask()
        counts.answered++
        first.resolve()
      } catch {
        counts.failed++
      }
      await wait(Math.max(0, next - performance.now()))
    }
  }
  const ended = hold(serve).catch((error: unknown) => {
    counts.failed++
    first.reject(error)
  })
  return {
    isServing: first.promise,
    async stop() {
      isOver = true
      await ended
    },
  }
}
