// One session that reads takes the locks of a whole PostgreSQL server, whose databases share one table of them: nobody else can
// log in then. Within seconds it must be out, and others in.
import pg from 'pg'
import { messageOf } from '../../../src/lib/errors.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import { type Attempt, inTurn } from '../attack.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import type { World } from '../world/world.ts'
import { type Credential, credentialOf, valueIn } from './credential.ts'

const name = 'attack-locks'
/** More than any table has room for. What was taken before it was full stays taken. */
const takeLocks = 'SELECT count(pg_advisory_lock(n)) FROM generate_series(1, 2000000) n'
/** `out_of_memory`: there is no room for another lock. */
const tableIsFull = '53200'
/** Who filled it is looked for every two seconds, and ended at once. */
const outSeconds = 10

export type Scene = { readonly own: Credential; readonly others: Credential }

function clientOf(credential: Credential): pg.Client {
  const value = (key: string): string => valueIn(credential, key)
  const isPlain = value('sslmode') === 'disable'
  const client = new pg.Client({
    host: value('host'),
    port: Number(value('port')),
    database: value('database'),
    user: value('username'),
    password: value('password'),
    connectionTimeoutMillis: outSeconds * 1000,
    ...(!isPlain && { ssl: { rejectUnauthorized: true, ca: credential['ca.crt'] } }),
  })
  // A session that the server ends.
  client.on('error', () => undefined)
  return client
}

const codeOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined

/** Undefined when it can log in and ask something; else what the server says. */
async function refusalOf(credential: Credential): Promise<string | undefined> {
  const client = clientOf(credential)
  try {
    await client.connect()
    await client.query('SELECT 1')
    return undefined
  } catch (error) {
    return `${codeOf(error) ?? ''} ${messageOf(error)}`.trim()
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Fills the table, and measures for how long the session keeps others out. */
async function fill({ own, others }: Scene): Promise<Verdict> {
  const client = clientOf(own)
  const ended = new Promise<number>(resolve => client.on('end', () => resolve(performance.now())))
  await client.connect()
  const begun = performance.now()
  const seconds = (until: number): number => (until - begun) / 1000
  try {
    const answer = await client.query(takeLocks).then(
      () => undefined,
      (error: unknown) => codeOf(error) ?? messageOf(error),
    )
    if (answer === undefined) return unclear('the table of locks has room for two million')
    const isFull = answer === tableIsFull
    const out = await Promise.race([ended, after(outSeconds * 1000)])
    const refusal = await waitUntil(
      'another tenant to log in',
      async () => (await refusalOf(others)) === undefined || undefined,
      {
        timeoutMilliseconds: outSeconds * 1000,
      },
    ).then(
      () => undefined,
      (error: unknown) => messageOf(error),
    )
    if (refusal !== undefined) return succeeded(`acme cannot log in ${seconds(performance.now()).toFixed(1)} s later: ${refusal}`)
    if (out === undefined) return succeeded(`the session still has its locks ${outSeconds} s later`)
    const measured = [
      `the session was out after ${seconds(out).toFixed(1)} s, acme in after ${seconds(performance.now()).toFixed(1)} s`,
    ]
    return {
      ...stopped('data service', `${isFull ? 'the table was full' : `the session ended (${answer})`}; ${measured[0]}`),
      measured,
    }
  } finally {
    await client.end().catch(() => undefined)
  }
}

function after(milliseconds: number): Promise<undefined> {
  return new Promise(resolve => setTimeout(() => resolve(undefined), milliseconds).unref())
}

export async function lockAttempts(world: World, serviceClass: string): Promise<readonly Attempt[]> {
  const make = (as: 'dave' | 'gary', namespace: string) =>
    credentialOf(world, 'postgresql', serviceClass, { as, namespace, name, access: 'ReadOnly' })
  const scene = { others: await make('dave', tenantNamespace), own: await make('gary', neighbourNamespace) }
  for (const [who, credential] of Object.entries(scene)) {
    const refusal = await refusalOf(credential)
    if (refusal !== undefined) throw new Error(`control: the credential of ${who} does not log in: ${refusal}`)
  }
  return attemptsOn(scene)
}

export function attemptsOn(scene: Scene): readonly Attempt[] {
  return inTurn([
    { name: 'gary: takes all locks of the server by a login that only reads', run: () => fill(scene) },
    {
      name: 'gary: logs in again by the same credential',
      async run() {
        const refusal = await refusalOf(scene.own)
        if (refusal === undefined) return succeeded('the server let it in')
        return /^28/.test(refusal) ? stopped('data service', refusal) : unclear(refusal)
      },
    },
  ])
}
