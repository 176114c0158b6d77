// How much space instances take: one query a minute for each server, whoever asks.
import type { ServiceInstance } from '../api/services/service-instance.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import { type Clock, elapsed } from '../lib/clock.ts'
import { measure } from './adapters/postgresql/instances.ts'
import { troubleOf } from './server-error.ts'
import type { Servers } from './servers.ts'

/** Bytes that the instance with this id takes; undefined when its server does not have it, or does not say it now. */
export type Usage = (serviceClass: string, id: string) => Promise<number | undefined>

export type UsageDeps = {
  readonly servers: Pick<Servers, 'of'>
  readonly instancesOf: (serviceClass: string) => readonly ServiceInstance[]
  readonly clock: Clock
}

const freshMilliseconds = 60_000
const maxClasses = 1000
type Measured = { readonly at: number; readonly sizes: Promise<ReadonlyMap<string, number>> }

// Memory (sizes of instances): name of a ServiceClass → bytes of each of its instances
//   life: a minute
//   bound: 1,000 ServiceClasses; their instances, which quotas limit
//   freshness: a minute; asked again at once after a failure
//   replicas: leader only
/** Asks nothing before it is asked. */
export function createUsage({ servers, instancesOf, clock }: UsageDeps): Usage {
  const measured = new BoundedMap<Measured>(maxClasses)
  return async (serviceClass, id) => {
    const known = measured.get(serviceClass)
    if (known !== undefined && elapsed(clock) - known.at < freshMilliseconds) return sizeIn(known, id)
    const opened = servers.of(serviceClass, 'postgresql')
    if (opened === undefined) return undefined
    const ids = instancesOf(serviceClass).flatMap(({ status }) => status?.externalId ?? [])
    const sizes = measure(opened.server, [...new Set([...ids, id])])
    const entry = { at: elapsed(clock), sizes }
    measured.set(serviceClass, entry)
    sizes.catch(() => {
      if (measured.get(serviceClass) === entry) measured.delete(serviceClass)
    })
    return sizeIn(entry, id)
  }
}

/** No size is no reason for an instance not to be ready: a tenant can keep its files changing while they are counted. */
async function sizeIn({ sizes }: Measured, id: string): Promise<number | undefined> {
  try {
    return (await sizes).get(id)
  } catch (error) {
    troubleOf(error)
    return undefined
  }
}
