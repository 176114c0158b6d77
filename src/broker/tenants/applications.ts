// Reads Applications and their Releases from the API server when somebody looks at them: a bounded number, without what pages
// do not show, such as environment variables. The broker keeps none of them. Whether the person may see them is decided before,
// by the caller.
import { type Application, application } from '../../api/apps/application.ts'
import { type Release, release } from '../../api/apps/release.ts'
import { keptObject } from '../../api/kept-object.ts'
import { unownedSelector } from '../../api/registry.ts'
import type { ObjectKey } from '../../api/resource.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import { type Bounded, bounded } from './bounded.ts'

const maxApplications = 300
/**
 * The API server lists by name, and names do not say which is the newest: all that an Application can have are read, and the
 * newest are shown.
 */
const maxReleases = 200
const shownReleases = 30

const shownSpec = ['chart', 'image', 'commit', 'pinnedRelease', 'services', 'suspend'] as const
const shownStatus = ['url', 'image', 'commit', 'release', 'latestRelease', 'rollback', 'conditions'] as const

export type ApplicationReader = {
  /** Those that no object owns, by name. People who look at the same time share the answer. */
  readonly list: (namespace: string) => Promise<Bounded<Application>>
  readonly get: (key: ObjectKey) => Promise<Application | undefined>
  /** The newest first. */
  readonly releases: (of: Application) => Promise<Bounded<Release>>
}

/** The same object with some of its fields. Every field of `status`, and every one but `chart` of `spec`, may be absent. */
function shown(object: Application): Application {
  const some = (of: object, fields: readonly string[]) =>
    Object.fromEntries(Object.entries(of).filter(([name]) => fields.includes(name)))
  const { status, spec, ...rest } = keptObject(object)
  const less = { ...rest, spec: some(spec, shownSpec), ...(status === undefined ? {} : { status: some(status, shownStatus) }) }
  return less as unknown as Application
}

// Memory (lists of Applications in progress): namespace → the list that people who look at the same time share
//   life: until it settles
//   bound: requests in progress
//   freshness: its end
//   replicas: each reads
/** Its methods reject with KubeError. */
export function createApplicationReader(kube: Pick<KubeClient, 'get' | 'snapshot'>): ApplicationReader {
  const flights = new SingleFlight<Bounded<Application>>()
  return {
    list: namespace =>
      flights.run(namespace, async () => {
        const options = { namespace, labelSelector: unownedSelector, keep: shown, most: maxApplications + 1 }
        const { items } = await kube.snapshot(application, options)
        return bounded(items, maxApplications)
      }),
    async get(key) {
      const found = await kube.get(application, key)
      return found && shown(found)
    },
    async releases({ metadata: { namespace = '', name, uid } }) {
      const fieldSelector = `spec.application.name=${name}`
      const { items } = await kube.snapshot(release, { namespace, fieldSelector, keep: keptObject, most: maxReleases })
      const own = items.filter(({ spec }) => spec.application.uid === uid)
      return bounded(
        own.toSorted((a, b) => b.spec.number - a.spec.number),
        shownReleases,
      )
    },
  }
}
