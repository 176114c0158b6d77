// Reads what `why` judges about services: class, service, credential, and the pods that have it, with the rights of the person.

import type { Application } from '../../../api/apps/application.ts'
import type { Pod } from '../../../api/builtin/core.ts'
import { ownedBindingName } from '../../../api/services/application-services.ts'
import { bindingSecretName } from '../../../api/services/binding-secret.ts'
import type { ServiceBinding } from '../../../api/services/service-binding.ts'
import type { ServiceClass } from '../../../api/services/service-class.ts'
import { controllerOf } from '../../../kube/object/owner.ts'
import { defined } from '../../../lib/json/defined.ts'
import { type Cluster, readable } from '../../kubernetes/cluster.ts'
import { applications, serviceBindings, serviceClasses } from '../../kubernetes/kinds.ts'
import { hasEnded, pods as podKind } from '../application/pods.ts'
import { type AnyService, bindingsOf, type ServiceKind, type ServiceObject, serviceKinds } from '../services/service-kinds.ts'

/** One credential of a service, or a service of which there is none. */
export type ServiceFact = {
  /** Of the entry of the Application, else of the ServiceBinding; absent for a service that nobody uses. */
  readonly label?: string
  readonly kind: ServiceKind
  readonly serviceName: string
  readonly service?: ServiceObject
  readonly serviceClass?: ServiceClass
  /** Absent for a service that nobody uses. */
  readonly bindingName?: string
  readonly binding?: ServiceBinding
  /** The Application that owns the credential. */
  readonly application?: string
  /** Those that refer to its Secret and have not ended. */
  readonly pods: readonly Pod[]
}

type Wanted = Pick<ServiceFact, 'label' | 'kind' | 'serviceName' | 'bindingName' | 'binding' | 'application'>

/** Undefined for an entry of a kind that this version does not know. */
function kindOfEntry(use: NonNullable<Application['spec']['services']>[number]): ServiceKind | undefined {
  return serviceKinds.find(({ useField }) => use[useField] !== undefined)
}

/** The parts of a pod that refer to Secrets. */
type References = {
  readonly containers?: readonly {
    readonly env?: readonly { readonly valueFrom?: { readonly secretKeyRef?: { readonly name?: string } } }[]
  }[]
  readonly volumes?: readonly { readonly secret?: { readonly secretName?: string } }[]
}

/** Whether a pod has the Secret, as a variable or as files. */
export function refersTo({ spec }: Pod, secret: string): boolean {
  const { containers = [], volumes = [] } = (spec ?? {}) as References
  const variables = containers.flatMap(({ env = [] }) => env)
  return (
    variables.some(({ valueFrom }) => valueFrom?.secretKeyRef?.name === secret) ||
    volumes.some(one => one.secret?.secretName === secret)
  )
}

async function gathered(cluster: Cluster, wanted: readonly Wanted[], pods: readonly Pod[]): Promise<readonly ServiceFact[]> {
  const { client, namespace } = cluster
  return Promise.all(
    wanted.map(async one => {
      const service = await readable(client.get(one.kind.type, { namespace, name: one.serviceName }), undefined)
      const serviceClass = service && (await readable(client.get(serviceClasses, { name: service.spec.class }), undefined))
      const secret = one.bindingName === undefined ? undefined : bindingSecretName(one.bindingName)
      const own = secret === undefined ? [] : pods.filter(pod => !hasEnded(pod) && refersTo(pod, secret))
      return { ...one, ...defined({ service, serviceClass }), pods: own }
    }),
  )
}

function allBindings({ client, namespace }: Cluster): Promise<readonly ServiceBinding[]> {
  return readable(client.list(serviceBindings, { namespace }), [])
}

/** Of an Application, in the order of its entries. */
export async function servicesOfApplication(
  cluster: Cluster,
  { metadata, spec }: Application,
  pods: readonly Pod[],
): Promise<readonly ServiceFact[]> {
  const uses = spec.services ?? []
  if (uses.length === 0) return []
  const bindings = await allBindings(cluster)
  const wanted = uses.flatMap(use => {
    const kind = kindOfEntry(use)
    const serviceName = kind && use[kind.useField]
    if (kind === undefined || serviceName === undefined) return []
    const bindingName = ownedBindingName(metadata.name, use)
    const binding = bindings.find(one => one.metadata.name === bindingName)
    const application = metadata.name
    return [{ label: use.name, kind, serviceName, bindingName, application, ...defined({ binding }) }]
  })
  return gathered(cluster, wanted, pods)
}

function ofBinding(binding: ServiceBinding): readonly Wanted[] {
  const kind = serviceKinds.find(({ type }) => type.kind === binding.spec.service.kind)
  if (kind === undefined) return []
  const { name } = binding.metadata
  const owner = controllerOf(binding)
  const application = owner?.kind === applications.kind ? owner.name : undefined
  const serviceName = binding.spec.service.name
  return [{ label: name, kind, serviceName, bindingName: name, binding, ...defined({ application }) }]
}

async function podsOfNamespace({ client, namespace }: Cluster): Promise<readonly Pod[]> {
  return readable(client.list(podKind, { namespace }), [])
}

/** Of one credential. */
export async function servicesOfBinding(cluster: Cluster, binding: ServiceBinding): Promise<readonly ServiceFact[]> {
  return gathered(cluster, ofBinding(binding), await podsOfNamespace(cluster))
}

/** Of a service: each of its credentials, or it alone. */
export async function servicesOfService(cluster: Cluster, one: AnyService): Promise<readonly ServiceFact[]> {
  const wanted = bindingsOf(await allBindings(cluster), one).flatMap(ofBinding)
  const { kind, service } = one
  if (wanted.length === 0) return gathered(cluster, [{ kind, serviceName: service.metadata.name }], [])
  return gathered(cluster, wanted, await podsOfNamespace(cluster))
}
