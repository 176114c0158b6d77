// One look at each PostgreSQL server a minute, whoever asks: what is at rest there costs no statement of its own.
// docs/adr/0113-one-look-at-a-server-a-minute.md
import type { ServiceInstance } from '../../api/services/service-instance.ts'
import { type Clock, elapsed } from '../../lib/clock.ts'
import { once } from '../../lib/limits/once.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import type { Followed } from '../adapters/postgresql/changes.ts'
import { type Look, lookAt, measure } from '../adapters/postgresql/look.ts'
import type { OpenDatabases } from '../providers/provider.ts'
import { troubleOf } from '../server-error.ts'
import type { Servers } from '../servers.ts'
import { type Snapshot, snapshotOf } from './snapshot.ts'

export type Looks = {
  /**
   * What the look of this minute found; the first to ask takes it. Undefined while there is none: the server is not open, did not
   * answer, or has more than one answer may have. Rejects with what is not a failure of a server.
   */
  readonly at: (serviceClass: string) => Promise<Snapshot | undefined>
  /** Bytes that the instance with this id takes; undefined when its server does not have it, or does not say it now. */
  readonly bytesOf: (serviceClass: string, id: string) => Promise<number | undefined>
  /** After each look, for each class of its server. `listener` must not throw. */
  readonly onLook: (listener: LookListener) => void
}
export type LookListener = (serviceClass: string, snapshot: Snapshot) => void

export type LooksDeps = {
  readonly servers: Pick<Servers, 'of' | 'every'>
  readonly instancesOf: (serviceClass: string) => readonly ServiceInstance[]
  readonly clock: Clock
}

const freshMilliseconds = 60_000
/** Until then each asks the server itself. */
const afterFailureMilliseconds = 10_000
/** Then sizes are asked for together with all else again: what kept them may be over. */
const apartMilliseconds = 600_000

type Sizes = ReadonlyMap<string, number>
type Taken = {
  /** Undefined when there was none: it failed, or was cut. */
  readonly look: Promise<Look | undefined>
  readonly sizes: () => Promise<Sizes>
  readonly changed: Followed
  /** Where sizes took too long, nobody waits for them until then who needs all else. */
  sizesApartUntil: number
  /** Until when it counts. */
  until: number
}

// Memory (looks at servers): connections of a ServiceClass → what is on its server
//   life: as long as the connections
//   bound: ServiceClasses, which platform admins make; 10,000 databases and 40,000 logins of each
//   freshness: a minute, counted from before it was asked; what this process changed since does not count
//   replicas: leader only
/** Asks nothing before it is asked. */
export function createLooks({ servers, instancesOf, clock }: LooksDeps): Looks {
  const taken = new WeakMap<OpenDatabases, Taken>()
  const listeners: LookListener[] = []
  const measurements = new SingleFlight<Sizes>()

  const tell = (opened: OpenDatabases, seen: Snapshot): void => {
    for (const name of classesOf(opened)) for (const listener of listeners) listener(name, seen)
  }
  const classesOf = (opened: OpenDatabases): readonly string[] =>
    servers.every('postgresql').flatMap(([name, other]) => (other === opened ? [name] : []))

  /** `more`: an instance whose name on the server the cache may not have yet. */
  const take = (serviceClass: string, opened: OpenDatabases, more: readonly string[]): Taken => {
    const known = classesOf(opened).flatMap(instancesOf)
    const ids = [...new Set([...known.flatMap(({ status }) => status?.externalId ?? []), ...more])]
    // Not the former one itself, which would keep all before it.
    const { changed: formerChanged, sizesApartUntil = 0 } = taken.get(opened) ?? {}
    const changed = opened.server.changes.follow()
    const began = elapsed(clock)
    let hasFailed = false
    const ask = async (): Promise<Look | undefined> => {
      try {
        const withSizes = began >= sizesApartUntil
        const look = await lookAt(opened.server, { ids, withSizes })
        if (withSizes && look !== undefined && look.sizes === undefined) entry.sizesApartUntil = began + apartMilliseconds
        if (look !== undefined) tell(opened, snapshotOf(look, changed, freshMilliseconds))
        return look
      } catch (error) {
        hasFailed = true
        entry.until = elapsed(clock) + afterFailureMilliseconds
        troubleOf(error)
        return undefined
      } finally {
        formerChanged?.end()
      }
    }
    const measureAll = async (): Promise<Sizes> =>
      hasFailed ? new Map() : measurements.run(serviceClass, () => measure(opened.server, ids))
    const entry: Taken = {
      look: Promise.resolve().then(ask),
      sizes: once(async () => (await entry.look)?.sizes ?? (await measureAll())),
      changed,
      sizesApartUntil,
      until: began + freshMilliseconds,
    }
    taken.set(opened, entry)
    return entry
  }
  const current = (serviceClass: string, more: readonly string[] = []): Taken | undefined => {
    const opened = servers.of(serviceClass, 'postgresql')
    if (opened === undefined) return undefined
    const known = taken.get(opened)
    return known !== undefined && elapsed(clock) < known.until ? known : take(serviceClass, opened, more)
  }
  return {
    async at(serviceClass) {
      const known = current(serviceClass)
      const look = await known?.look
      const rest = (known?.until ?? 0) - elapsed(clock)
      return known === undefined || look === undefined || rest <= 0 ? undefined : snapshotOf(look, known.changed, rest)
    },
    bytesOf: async (serviceClass, id) => sizeIn(current(serviceClass, [id]), id),
    onLook: listener => void listeners.push(listener),
  }
}

/** No size is no reason for an instance not to be ready: a tenant can keep its files changing while they are counted. */
async function sizeIn(taken: Taken | undefined, id: string): Promise<number | undefined> {
  try {
    return (await taken?.sizes())?.get(id)
  } catch (error) {
    troubleOf(error)
    return undefined
  }
}
