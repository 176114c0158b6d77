// The servers of the ServiceClasses: connections as their administrators. The controller of ServiceClasses opens one when it has
// read the Secret; the others use it. Nobody else keeps the account of a server.
import type { ServiceType } from '../api/services/provider.ts'
import type { ServiceClass } from '../api/services/service-class.ts'
import { sameJson } from '../lib/json/same-json.ts'
import type { StatementCounter } from './metrics.ts'
import { close, connect } from './providers/by-type.ts'
import type { Account, OpenServer } from './providers/provider.ts'

export type Servers = {
  /** Undefined until the class was reconciled by this process, or while its server is of another type. */
  readonly of: <T extends ServiceType>(serviceClass: string, type: T) => Extract<OpenServer, { type: T }> | undefined
  /** Of every class of this type that this process has opened, by its name. */
  readonly every: <T extends ServiceType>(type: T) => readonly (readonly [string, Extract<OpenServer, { type: T }>])[]
  /**
   * The connection for what the class says now; the former one ends when something of it changed. Classes of one PostgreSQL
   * server, by host, port, protection and account, have one connection together.
   */
  readonly open: (serviceClass: ServiceClass, account: Account, ca: string | undefined) => OpenServer
  readonly forget: (serviceClass: string) => Promise<void>
  readonly close: () => Promise<void>
}

type Entry = {
  readonly opened: OpenServer
  readonly provider: ServiceClass['spec']['provider']
  readonly account: Account
  readonly ca: string | undefined
}

// Memory (servers): name of a ServiceClass → its connections, its address, and the account it was opened with
//   life: until the class is gone or says something else
//   bound: ServiceClasses, which platform admins make; six sessions for each server, one of them at rest
//   freshness: the class and its Secrets are read each minute
//   replicas: leader only
/** Opens nothing before it is asked. */
export function createServers(countStatements?: StatementCounter): Servers {
  const entries = new Map<string, Entry>()
  const closeUnused = async (opened: OpenServer): Promise<void> => {
    if (entries.values().every(entry => entry.opened !== opened)) await close(opened)
  }
  const forget = async (name: string): Promise<void> => {
    const entry = entries.get(name)
    entries.delete(name)
    if (entry !== undefined) await closeUnused(entry.opened)
  }
  const of = <T extends ServiceType>(name: string, type: T) => {
    const opened = entries.get(name)?.opened
    return opened?.type === type ? (opened as Extract<OpenServer, { type: T }>) : undefined
  }
  return {
    of,
    every: type =>
      [...entries.keys()].flatMap(name => {
        const opened = of(name, type)
        return opened === undefined ? [] : [[name, opened] as const]
      }),
    open(serviceClass, account, ca) {
      const { name } = serviceClass.metadata
      const { provider } = serviceClass.spec
      const wanted = { provider, account, ca }
      const known = entries.get(name)
      if (known !== undefined && isSame(known, wanted)) return known.opened
      const shared = entries.values().find(other => isOneServer(other, wanted))
      const opened = shared?.opened ?? connect(serviceClass, { account, ca, count: countStatements?.(name) })
      entries.set(name, { opened, ...wanted })
      // Whoever works with the former one ends its work first.
      if (known !== undefined) void closeUnused(known.opened)
      return opened
    },
    forget,
    async close() {
      await Promise.all([...entries.keys()].map(forget))
    },
  }
}

type Wanted = Omit<Entry, 'opened'>

function isSame(known: Entry, wanted: Wanted): boolean {
  return sameJson(known.provider, wanted.provider) && isSameAccount(known, wanted)
}

/** A store has a bucket of the platform for each class. */
function isOneServer(known: Entry, wanted: Wanted): boolean {
  const [one, other] = [known.provider.postgresql, wanted.provider.postgresql]
  if (one === undefined || other === undefined) return false
  const isThere = one.host === other.host && one.port === other.port && one.tls.mode === other.tls.mode
  return isThere && isSameAccount(known, wanted)
}

function isSameAccount(known: Entry, wanted: Wanted): boolean {
  const keys = Object.keys(wanted.account)
  return (
    known.ca === wanted.ca &&
    Object.keys(known.account).length === keys.length &&
    keys.every(key => {
      const value = wanted.account[key]
      return value !== undefined && known.account[key]?.equals(value) === true
    })
  )
}
