// What must be known about a ServiceBinding: its instance and class, the Secret, which is read from the API server because
// nobody may list Secrets, and the logins on the server. Never writes.
import { type Secret, secrets } from '../../api/builtin/index.ts'
import { bindingSecretName } from '../../api/services/binding-secret.ts'
import type { ServiceBinding } from '../../api/services/service-binding.ts'
import type { ServiceClass } from '../../api/services/service-class.ts'
import type { ServiceInstance } from '../../api/services/service-instance.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { loginName, type SlotName } from '../adapters/postgresql/identifiers.ts'
import { liveLogins } from '../adapters/postgresql/logins.ts'
import type { DataServicesParts } from '../parts.ts'
import type { OpenServer } from '../servers.ts'

export type Facts = {
  readonly binding: ServiceBinding
  readonly instance: ServiceInstance | undefined
  readonly serviceClass: ServiceClass | undefined
  /** Undefined when it is not open in this process. */
  readonly opened: OpenServer | undefined
  /** The Secret of the name that the platform needs, whoever made it. */
  readonly secret: Secret | undefined
}

export type GatherDeps = {
  readonly client: Pick<KubeClient, 'get'>
  readonly instances: Pick<Cache<ServiceInstance>, 'get'>
  readonly classes: Pick<Cache<ServiceClass>, 'get'>
  readonly servers: DataServicesParts['servers']
}

/** Rejects when the API server cannot be reached. */
export async function gather({ client, instances, classes, servers }: GatherDeps, binding: ServiceBinding): Promise<Facts> {
  const { namespace = '', name } = binding.metadata
  const instance = instances.get({ namespace, name: binding.spec.service.name })
  return {
    binding,
    instance,
    serviceClass: instance && classes.get({ name: instance.spec.class }),
    opened: instance && servers.of(instance.spec.class),
    secret: await client.get(secrets, { namespace, name: bindingSecretName(name) }),
  }
}

export const slotNames: readonly SlotName[] = ['a', 'b']

export function loginOf({ metadata }: ServiceBinding, slot: SlotName): string {
  return loginName(metadata.uid ?? '', slot)
}

/** The slots whose logins exist, and those of them without a session. Rejects with what the server's driver rejects with. */
export async function readLogins(
  opened: OpenServer,
  binding: ServiceBinding,
): Promise<{ readonly live: ReadonlySet<SlotName>; readonly idle: ReadonlySet<SlotName> }> {
  const names = slotNames.map(slot => loginOf(binding, slot))
  const sessions = await liveLogins(opened.server, names)
  const live = new Set(slotNames.filter(slot => sessions.has(loginOf(binding, slot))))
  return { live, idle: new Set([...live].filter(slot => sessions.get(loginOf(binding, slot)) === 0)) }
}
