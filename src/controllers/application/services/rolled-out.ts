// Says on a ServiceBinding which version of its credential alone pods have, so that the one before can end early. It is about
// pods of the Application and commands of `sekisho run`; whether anybody is connected, the server of the service knows.

import type { Application } from '../../../api/apps/application.ts'
import type { ReleaseHeader } from '../../../api/apps/release.ts'
import { type Pod, pods } from '../../../api/builtin/index.ts'
import { jobNameLabel, labels } from '../../../api/names.ts'
import { rolledOutAnnotation } from '../../../api/services/binding-secret.ts'
import { type ServiceBinding, serviceBinding } from '../../../api/services/service-binding.ts'
import { taskLabel } from '../../../api/task-names.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { uidOf } from '../../../kube/object/owner.ts'
import { fieldManager } from '../field-manager.ts'
import { desiredBinding, isSettled } from './owned-bindings.ts'
import { serviceVersions, versionName } from './service-checks.ts'
import type { ServiceEntry, ServiceFacts } from './service-facts.ts'

type Deps = { readonly client: Pick<KubeClient, 'list' | 'apply'> }
type Facts = Pick<ServiceFacts, 'services'> & { readonly releases: { readonly headers: readonly ReleaseHeader[] } }

/** Pods that still have the former credential are looked for again. */
const lookMilliseconds = 30_000

/** The entries whose replaced credential still lives, and of which nothing was said since. */
function waiting({ services }: Pick<ServiceFacts, 'services'>): readonly (ServiceEntry & { readonly binding: ServiceBinding })[] {
  return services.flatMap(entry => {
    const { binding } = entry
    const isDraining = binding?.status?.slots?.some(({ state }) => state === 'Draining') === true
    const version = binding?.status?.version
    if (binding === undefined || !isDraining || version === undefined) return []
    return binding.metadata.annotations?.[rolledOutAnnotation] === String(version) ? [] : [{ ...entry, binding }]
  })
}

/**
 * When the first release with the present credential of the entry was made, if it is the one that runs: pods that began later
 * have it. Undefined otherwise.
 */
export function credentialSince(application: Application, facts: Facts, entry: ServiceEntry): Date | undefined {
  const name = versionName(entry)
  const present = serviceVersions(facts)[name]
  const withIt = facts.releases.headers.filter(({ spec }) => spec.secretVersions?.[name] === present)
  if (!withIt.some(({ spec }) => spec.number === application.status?.release)) return undefined
  const times = withIt.map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '')).filter(time => !Number.isNaN(time))
  return times.length === 0 ? undefined : new Date(Math.min(...times))
}

/**
 * Whether a pod can have an earlier credential. Times of objects are whole seconds: of those that began in the same one, pods of
 * processes were made for the release, and Jobs perhaps before it.
 */
export function hasFormer({ metadata, status }: Pod, since: Date): boolean {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return false
  const began = Date.parse(metadata.creationTimestamp ?? '')
  const isProcess = [jobNameLabel, taskLabel].every(label => metadata.labels?.[label] === undefined)
  return isProcess ? !(began >= since.getTime()) : !(began > since.getTime())
}

/**
 * Resolves to when to look again, while something keeps it from being said. `application`: with the status that was written.
 * @throws KubeError when a retry may succeed
 */
export async function tellRolledOut({ client }: Deps, application: Application, facts: Facts): Promise<number | undefined> {
  const entries = isSettled(application) ? waiting(facts) : []
  if (entries.length === 0) return undefined
  const { namespace = '', name } = application.metadata
  // As they are, and not as a cache has them: commands are in none.
  const selectors = [labels.application, taskLabel].map(label => `${label}=${name}`)
  const found = await Promise.all(selectors.map(labelSelector => client.list(pods, { namespace, labelSelector })))
  let isMissing = false
  for (const entry of entries) {
    const since = credentialSince(application, facts, entry)
    if (since === undefined || found.flat().some(pod => hasFormer(pod, since))) isMissing = true
    else await say(client, application, entry)
  }
  return isMissing ? lookMilliseconds : undefined
}

async function say(
  client: Deps['client'],
  application: Application,
  { binding, ...entry }: ServiceEntry & { readonly binding: ServiceBinding },
): Promise<void> {
  const desired = desiredBinding(application, entry)
  const annotations = { [rolledOutAnnotation]: String(binding.status?.version) }
  const object = { ...desired, metadata: { ...desired.metadata, uid: uidOf(binding), annotations } }
  await client.apply(serviceBinding, object, { fieldManager, force: true })
}
