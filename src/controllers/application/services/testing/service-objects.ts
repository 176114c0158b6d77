// An entry of `spec.services` with its objects, for tests.

import type { Application } from '../../../../api/apps/application.ts'
import { ownedBindingName, type ServiceUse } from '../../../../api/services/application-services.ts'
import { bindingSecretName } from '../../../../api/services/binding-secret.ts'
import { type ServiceBinding, serviceBinding } from '../../../../api/services/service-binding.ts'
import { type ServiceClass, serviceClass } from '../../../../api/services/service-class.ts'
import { type ServiceInstance, serviceInstance } from '../../../../api/services/service-instance.ts'
import type { ServiceEntry, ServiceFacts } from '../service-facts.ts'

const { apiVersion } = serviceBinding

export function use(more: Partial<ServiceUse> = {}): ServiceUse {
  return { name: 'db', instance: 'shop-db', access: 'ReadWrite', ...more }
}

export function classOf(more: Partial<ServiceClass['spec']> = {}): ServiceClass {
  const postgresql = { host: 'db.test', port: 5432, adminSecret: { name: 'server' }, tls: { mode: 'VerifyFull' as const } }
  return {
    apiVersion,
    kind: serviceClass.kind,
    metadata: { name: 'postgresql', uid: 'uid-class' },
    spec: {
      type: 'postgresql',
      provider: { postgresql },
      plans: [{ name: 'small', limits: { connections: 20, storage: '1Gi' } }],
      reach: { cidrs: ['10.0.7.12/32'] },
      allowIsolated: false,
      ownNames: false,
      credentials: { maxAgeDays: 30, overlapMinutes: 60 },
      ...more,
    },
  }
}

/** An entry of a bucket. */
export function bucketUse(more: Partial<ServiceUse> = {}): ServiceUse {
  return { name: 'pictures', bucket: 'shop-pictures', access: 'ReadWrite', ...more }
}

const instance: ServiceInstance = {
  apiVersion,
  kind: serviceInstance.kind,
  metadata: { namespace: 'acme', name: 'shop-db', uid: 'uid-instance' },
  spec: { class: 'postgresql', whenDeleted: 'Keep' },
}

type BindingState = { readonly reason?: string; readonly version?: number | undefined; readonly uid?: string }

/** A ServiceBinding; without `version` one that never had a credential. */
export function bindingOf(state: BindingState = {}): ServiceBinding {
  const { reason = 'Delivered', version, uid = '11111111-2222' } = { version: 1, ...state }
  const name = ownedBindingName('shop', use())
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  const status = reason === 'Delivered' ? ('True' as const) : ('False' as const)
  const delivered = version === undefined ? {} : { version, binding: { name: bindingSecretName(name) } }
  return {
    apiVersion,
    kind: serviceBinding.kind,
    metadata: { namespace: 'acme', name, uid },
    spec: { service: { kind: 'ServiceInstance', name: 'shop-db' }, access: 'ReadWrite' },
    status: {
      ...delivered,
      conditions: [{ type: 'Ready', status, reason, message: 'x', lastTransitionTime, observedGeneration: 1 }],
    },
  }
}

export function entryOf(more: Partial<ServiceEntry> = {}): ServiceEntry {
  const wanted = more.use ?? use()
  return {
    use: wanted,
    bindingName: ownedBindingName('shop', wanted),
    binding: bindingOf(),
    service: instance,
    serviceClass: classOf(),
    ...more,
  }
}

/** Of the Application `shop` with these entries. */
export function factsOf(
  services: readonly ServiceEntry[],
  spec: Partial<Application['spec']> = {},
): ServiceFacts & { readonly application: Application } {
  const application: Application = {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'Application',
    metadata: { name: 'shop', namespace: 'acme', uid: 'uid-shop' },
    spec: { chart: 'web', ...spec },
  }
  return { application, services, bindings: services.flatMap(({ binding }) => binding ?? []), reach: [] }
}
