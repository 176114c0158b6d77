// What must be known about a ServiceBinding: its service and class, and the Secret, which is read from the API server because
// nobody may list Secrets. Never writes.
import { type Secret, secrets } from '../../api/builtin/index.ts'
import { bindingSecretName } from '../../api/services/binding-secret.ts'
import type { Bucket } from '../../api/services/bucket.ts'
import type { ServiceBinding } from '../../api/services/service-binding.ts'
import type { ServiceClass } from '../../api/services/service-class.ts'
import type { ServiceInstance } from '../../api/services/service-instance.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { Snapshot } from '../looks/snapshot.ts'
import type { DataServicesParts } from '../parts.ts'
import type { OpenServer } from '../providers/provider.ts'

export type Facts = {
  readonly binding: ServiceBinding
  /** What the binding names, of the kind that it names. */
  readonly service: ServiceInstance | Bucket | undefined
  /** The name of the database or bucket on the server, once it has one. */
  readonly id: string | undefined
  readonly serviceClass: ServiceClass | undefined
  /** Undefined when it is not open in this process. */
  readonly opened: OpenServer | undefined
  /** What its server has, of a look that all share; undefined when it has to be asked for this binding alone. */
  readonly seen: Snapshot | undefined
  /** The Secret of the name that the platform needs, whoever made it. */
  readonly secret: Secret | undefined
}

export type GatherDeps = {
  readonly client: Pick<KubeClient, 'get'>
  readonly instances: Pick<Cache<ServiceInstance>, 'get'>
  readonly buckets: Pick<Cache<Bucket>, 'get'>
  readonly classes: Pick<Cache<ServiceClass>, 'get'>
  readonly servers: DataServicesParts['servers']
  readonly looks: DataServicesParts['looks']
}

/** Rejects when the API server cannot be reached. A binding with one credential, which is delivered, takes part in the look. */
export async function gather(deps: GatherDeps, binding: ServiceBinding): Promise<Facts> {
  const { namespace = '', name } = binding.metadata
  const found = serviceOf(deps, binding)
  const { service } = found
  return {
    binding,
    ...found,
    serviceClass: service && deps.classes.get({ name: service.spec.class }),
    opened: service && deps.servers.of(service.spec.class, found.type),
    seen: service && hasOne(binding) ? await deps.looks.at(service.spec.class) : undefined,
    secret: await deps.client.get(secrets, { namespace, name: bindingSecretName(name) }),
  }
}

/** Whether it stays, and one credential is recorded, which is delivered. */
function hasOne({ metadata, status }: ServiceBinding): boolean {
  const [slot, ...others] = status?.slots ?? []
  return metadata.deletionTimestamp === undefined && slot?.state === 'Delivered' && others.length === 0
}

function serviceOf({ instances, buckets }: GatherDeps, { metadata: { namespace = '' }, spec }: ServiceBinding) {
  const key = { namespace, name: spec.service.name }
  if (spec.service.kind === 'Bucket') {
    const bucket = buckets.get(key)
    return { type: 'bucket', service: bucket, id: bucket?.status?.bucket } as const
  }
  const instance = instances.get(key)
  return { type: 'postgresql', service: instance, id: instance?.status?.externalId } as const
}
