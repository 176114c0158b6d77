// The loop that keeps one tenant from taking the locks of all others on a PostgreSQL server, and with them every login.
import type { Manager } from '../kube/manager.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { type Periodic, periodic } from '../lib/periodic.ts'
import { closeLockTakers } from './adapters/postgresql/lock-guard.ts'
import { troubleOf } from './server-error.ts'
import type { Servers } from './servers.ts'

export type LockGuardDeps = {
  readonly servers: Pick<Servers, 'every'>
  readonly manager: Pick<Manager, 'isLeader'>
  readonly clock: Clock
  readonly log: Pick<Log, 'error'>
}

/** While it lasts, nobody else can log in. */
const everyMilliseconds = 2_000

/** The ServiceBinding of a login that was closed gets another credential when it is looked at next, within ten minutes. */
export function createLockGuard({ servers, manager: { isLeader }, clock, log }: LockGuardDeps): Periodic {
  const guard = async ([serviceClass, { server }]: ReturnType<typeof servers.every<'postgresql'>>[number]): Promise<void> => {
    try {
      for (const login of await closeLockTakers(server))
        log.error({ serviceClass, login }, 'a login was closed that had taken most locks of its server')
    } catch (error) {
      // That a server is away says its class.
      if (troubleOf(error).kind === 'refused') throw error
    }
  }
  const work = () => Promise.all(servers.every('postgresql').map(guard))
  return periodic({ name: 'guard of the locks of servers', everyMilliseconds, work, clock, log, enabled: isLeader })
}
