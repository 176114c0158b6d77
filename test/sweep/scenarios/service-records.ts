// A database, its credential and a bucket come, are replaced and go, as data-services reports it, which the scenario plays: the
// log has each of that once, before the objects are gone.
import type { ResourceType } from '../../../src/api/resource.ts'
import { bucket } from '../../../src/api/services/bucket.ts'
import { serviceBinding } from '../../../src/api/services/service-binding.ts'
import {
  bindingFinalizer,
  bucketFinalizer,
  instanceFinalizer,
  recordFinalizer,
} from '../../../src/api/services/service-finalizers.ts'
import { serviceInstance } from '../../../src/api/services/service-instance.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { type Environment, fieldManager } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { gone, patience } from './waits.ts'

const time = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()
const first = { slot: 'a', issuedAt: time(1) }
const second = { slot: 'b', issuedAt: time(2) }
const ended = [{ ...first, endedAt: time(3) }]
const provisioned = {
  ...{ type: 'Provisioned', status: 'True', reason: 'Provisioned', message: 'x' },
  ...{ lastTransitionTime: time(0), observedGeneration: 1 },
}

const entriesOf = ({ store, namespace }: Environment) => store.audit.list({ namespace, limit: 100 })

function recorded(environment: Environment, action: string, count: number): Promise<true> {
  return waitUntil(
    `${count} records ${action}`,
    async () => (await entriesOf(environment)).filter(entry => entry.action === action).length >= count || undefined,
    patience,
  )
}

/** An object of which data-services has something to end. */
async function made({ fixture, namespace, apply }: Environment, type: ResourceType, finalizer: string, spec: object) {
  await apply(type, 'db', { spec })
  await waitUntil(
    'the finalizer of the records',
    async () =>
      (await fixture.kube.get(type, { namespace, name: 'db' }))?.metadata.finalizers?.includes(recordFinalizer) || undefined,
    patience,
  )
  await setFinalizers({ fixture, namespace }, type, finalizers => [...finalizers, finalizer])
}

async function setFinalizers(
  { fixture: { kube }, namespace }: Pick<Environment, 'fixture' | 'namespace'>,
  type: ResourceType,
  change: (finalizers: readonly string[]) => readonly string[],
): Promise<void> {
  const live = await kube.get(type, { namespace, name: 'db' })
  const { resourceVersion, finalizers = [] } = live?.metadata ?? {}
  const patch = { metadata: { resourceVersion, finalizers: change(finalizers) } }
  await kube.mergePatch(type, { namespace, name: 'db' }, patch, { fieldManager })
}

export const serviceRecordsScenario: Scenario = {
  name: 'service records: issue, replace, delete',
  controllers: ['service-instance-records', 'bucket-records', 'service-binding-records'],
  environment: { component: 'controllers', namespace: 'made', github: 'none' },
  async act(environment) {
    const { fixture, namespace, setStatus } = environment
    await made(environment, serviceInstance, instanceFinalizer, { class: 'absent', whenDeleted: 'Delete' })
    await setStatus(serviceInstance, 'db', { externalId: 's1', conditions: [provisioned] })
    await recorded(environment, 'service.provisioned', 1)
    await made(environment, serviceBinding, bindingFinalizer, { service: { kind: 'ServiceInstance', name: 'db' } })
    await setStatus(serviceBinding, 'db', { slots: [{ ...first, state: 'Delivered' }] })
    await recorded(environment, 'credential.issued', 1)
    const slots = [
      { ...first, state: 'Draining', until: time(9) },
      { ...second, state: 'Delivered' },
    ]
    await setStatus(serviceBinding, 'db', { slots })
    await recorded(environment, 'credential.replaced', 1)
    await fixture.kube.delete(serviceBinding, { namespace, name: 'db' })
    await setStatus(serviceBinding, 'db', { slots: [], ended: [{ ...second, endedAt: time(4) }, ...ended] })
    await setFinalizers(environment, serviceBinding, finalizers => finalizers.filter(one => one !== bindingFinalizer))
    await gone(environment, serviceBinding, 'db')
    await fixture.kube.delete(serviceInstance, { namespace, name: 'db' })
    await setStatus(serviceInstance, 'db', { externalId: 's1', conditions: [provisioned], end: 'Deleted' })
    await setFinalizers(environment, serviceInstance, finalizers => finalizers.filter(one => one !== instanceFinalizer))
    await gone(environment, serviceInstance, 'db')
    await made(environment, bucket, bucketFinalizer, { class: 'absent' })
    const stored = { externalId: 'b1', bucket: 'b1', conditions: [provisioned] }
    await setStatus(bucket, 'db', stored)
    await recorded(environment, 'service.provisioned', 2)
    await fixture.kube.delete(bucket, { namespace, name: 'db' })
    await setStatus(bucket, 'db', { ...stored, end: 'Kept' })
    await setFinalizers(environment, bucket, finalizers => finalizers.filter(one => one !== bucketFinalizer))
    await gone(environment, bucket, 'db')
  },
  compares: [serviceInstance, bucket, serviceBinding],
  async more(environment) {
    const entries = await entriesOf(environment)
    return entries
      .filter(({ action }) => action.startsWith('service.') || action.startsWith('credential.'))
      .map(({ action, outcome, details }) => `${action} ${outcome} ${details['slot'] ?? ''} ${details['issuedAt'] ?? ''}`)
      .toSorted()
  },
}
