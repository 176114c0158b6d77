// Short exclusive rights by name, for one caller at a time in all processes. A right is a row with an end: a holder that dies loses it.
// Holds no connection and no transaction while the work runs, so that work may use the store itself.
import { randomUUID } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { PrismaClient } from './generated/client.ts'

export type LeaseOptions = {
  /** After this time the right is lost although the work may still run: longer than the work can take. */
  readonly leaseSeconds: number
  /** How long to wait for the right before `unavailable`. */
  readonly patienceSeconds: number
}

export type Leases = { readonly withLease: <T>(name: string, options: LeaseOptions, work: () => Promise<T>) => Promise<T> }

const pollMilliseconds = 25

export function createLeases(deps: { readonly prisma: PrismaClient; readonly clock: Clock }): Leases {
  const { prisma, clock } = deps
  // Callers of this process queue here, so that only one of them asks the database.
  const queues = new Map<string, Promise<void>>()

  const take = async (name: string, holder: string, seconds: number): Promise<boolean> => {
    const now = clock.now()
    const until = new Date(now.getTime() + seconds * 1000)
    const taken = await prisma.$executeRaw`
      INSERT INTO broker.leases AS held (name, holder, until) VALUES (${name}, ${holder}::uuid, ${until})
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until WHERE held.until <= ${now}`
    return taken === 1
  }
  const underLease = async <T>(name: string, options: LeaseOptions, work: () => Promise<T>): Promise<T> => {
    const holder = randomUUID()
    const end = clock.now().getTime() + options.patienceSeconds * 1000
    while (!(await take(name, holder, options.leaseSeconds))) {
      if (clock.now().getTime() >= end)
        throw new AppError('unavailable', 'somebody else holds the lock', { retryAfterSeconds: 5 })
      await clock.sleep(pollMilliseconds)
    }
    try {
      return await work()
    } finally {
      await prisma.leaseRow.deleteMany({ where: { name, holder } })
    }
  }

  return {
    withLease(name, options, work) {
      const before = queues.get(name) ?? Promise.resolve()
      const mine = before.then(() => underLease(name, options, work))
      const ended = mine.then(
        () => {},
        () => {},
      )
      queues.set(name, ended)
      void ended.then(() => {
        if (queues.get(name) === ended) queues.delete(name)
      })
      return mine
    },
  }
}
