// The loop that keeps one tenant from taking the locks of all others on a PostgreSQL server, and with them every login.
import type { Manager } from '../kube/manager.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { type Periodic, periodic } from '../lib/periodic.ts'
import { closeLockTakers } from './adapters/postgresql/lock-guard.ts'
import { troubleOf } from './server-error.ts'
import type { Servers } from './servers.ts'

/** Logins that the guard has closed, for who makes their credentials anew. What nobody heard of, each look at a login finds. */
export type ClosedLogins = {
  readonly notify: (login: string) => void
  /** Call before the manager starts. */
  readonly onClosed: (listener: (login: string) => void) => void
}

export function createClosedLogins(): ClosedLogins {
  const listeners: ((login: string) => void)[] = []
  return {
    notify(login) {
      for (const listener of listeners) listener(login)
    },
    onClosed: listener => void listeners.push(listener),
  }
}

export type LockGuardDeps = {
  readonly servers: Pick<Servers, 'every'>
  readonly closedLogins: Pick<ClosedLogins, 'notify'>
  readonly manager: Pick<Manager, 'isLeader'>
  readonly clock: Clock
  readonly log: Pick<Log, 'error'>
  readonly closeTakers?: typeof closeLockTakers
}

/** While it lasts, nobody else can log in. */
const everyMilliseconds = 2_000

/** The ServiceBinding of a login that was closed hears of it at once. */
export function createLockGuard(deps: LockGuardDeps): Periodic {
  const { servers, closedLogins, manager, clock, log, closeTakers = closeLockTakers } = deps
  const guard = async ([serviceClass, { server }]: ReturnType<typeof servers.every<'postgresql'>>[number]): Promise<void> => {
    try {
      await closeTakers(server, login => {
        log.error({ serviceClass, login }, 'a login was closed that had taken most locks of its server')
        closedLogins.notify(login)
      })
    } catch (error) {
      // That a server is away says its class.
      if (troubleOf(error).kind === 'refused') throw error
    }
  }
  // Classes of one server have one connection.
  const work = () => Promise.all(new Map(servers.every('postgresql').map(one => [one[1], one])).values().map(guard))
  return periodic({ name: 'guard of the locks of servers', everyMilliseconds, work, clock, log, enabled: manager.isLeader })
}
