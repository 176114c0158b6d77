// Short leases by name, held by one caller at a time in all processes. A lease is a row that expires: a holder that dies loses
// it. It holds neither a connection nor a transaction while the work runs, so that the work may use the store itself.
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { createKeyedMutex } from '../../lib/limits/keyed-mutex.ts'
import type { PrismaClient } from '../generated/client.ts'

/** The bounds of one lease. */
export type LeaseOptions = {
  /** The lease expires after this time even while the work runs: choose more than the work can take. */
  readonly leaseSeconds: number
  /** How long to wait for the lease. */
  readonly patienceSeconds: number
}

/** The port for leases. */
export type Leases = {
  /**
   * Runs `work` under the lease and releases it whatever happens. Rejects with `unavailable` when the lease is not free in
   * time.
   */
  readonly withLease: <T>(name: string, options: LeaseOptions, work: () => Promise<T>) => Promise<T>
}

const pollMilliseconds = 25

// Memory (callers of a lease): name of a lease → who waits for it in this process
//   life: until its work has ended
//   bound: requests in progress
//   freshness: the end of the work
//   replicas: each queues its own; the row in the database decides between them
/** Leases in the database; callers of one process queue for a name, so that only one of them polls. */
export function createLeases(deps: {
  readonly prisma: Pick<PrismaClient, 'leaseRow' | '$executeRaw'>
  readonly clock: Clock
}): Leases {
  const { prisma, clock } = deps
  const mutex = createKeyedMutex()

  const tryAcquire = async (name: string, holder: string, seconds: number): Promise<boolean> => {
    const now = clock.now()
    const until = new Date(now.getTime() + seconds * 1000)
    const acquired = await prisma.$executeRaw`
      INSERT INTO broker.leases AS held (name, holder, until) VALUES (${name}, ${holder}::uuid, ${until})
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until WHERE held.until <= ${now}`
    return acquired === 1
  }
  const underLease = async <T>(name: string, options: LeaseOptions, work: () => Promise<T>): Promise<T> => {
    const holder = randomUUID()
    const end = clock.now().getTime() + options.patienceSeconds * 1000
    while (!(await tryAcquire(name, holder, options.leaseSeconds))) {
      if (clock.now().getTime() >= end)
        throw new AppError('unavailable', 'another process holds the lock', { retryAfterSeconds: 5 })
      await clock.sleep(pollMilliseconds)
    }
    try {
      return await work()
    } finally {
      await prisma.leaseRow.deleteMany({ where: { name, holder } })
    }
  }

  return { withLease: (name, options, work) => mutex.run(name, () => underLease(name, options, work)) }
}
