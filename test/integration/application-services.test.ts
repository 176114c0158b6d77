// An Application that uses services, on a real API server: it makes its ServiceBindings, waits for their credentials, gives them
// to its pods, opens the way to their servers and to nothing else, and replaces its pods with each other credential. The test is
// the process data-services, with its ServiceAccount.
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Application, application } from '../../src/api/apps/application.ts'
import { release } from '../../src/api/apps/release.ts'
import { deployments, networkPolicies, secrets } from '../../src/api/builtin/index.ts'
import { ownedBindingName } from '../../src/api/services/application-services.ts'
import {
  bindingSecretKeys,
  bindingSecretName,
  bindingSecretType,
  rolledOutAnnotation,
} from '../../src/api/services/binding-secret.ts'
import { type ServiceBinding, serviceBinding } from '../../src/api/services/service-binding.ts'
import { serviceClass } from '../../src/api/services/service-class.ts'
import { serviceInstance } from '../../src/api/services/service-instance.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { ownerReference } from '../../src/kube/object/owner.ts'
import { objectAt } from '../../src/lib/json/json-value.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { makeChart, startApplicationController, withCharts } from '../fixtures/application-controller.ts'
import { chartOf, type Fixture, gone, readyReason, withFixture } from '../fixtures/application-fixture.ts'
import { withClientOf } from '../fixtures/process-clients.ts'

const fieldManager = 'test'
const image = `registry.example.com/acme/shop@sha256:${'1'.repeat(64)}`
const renderer = withCharts()

type Platform = Fixture & { readonly dataServices: KubeClient; readonly className: string }

async function running({ allowIsolated = false } = {}): Promise<Platform> {
  const fixture = await withFixture()
  const dataServices = await withClientOf('sekisho-data-services')
  await makeChart(fixture, { builtIn: 'web' })
  const className = `class-${fixture.namespace}`
  const spec = {
    type: 'postgresql' as const,
    provider: { postgresql: { host: 'postgresql.test', port: 6432, adminSecret: { name: 'server' } } },
    plans: [{ name: 'small', limits: { storage: '1Gi' } }],
    reach: { cidrs: ['10.0.7.12/32', 'fd00:7::/64'] },
    allowIsolated,
  }
  const { apiVersion, kind } = serviceClass
  await fixture.client.apply(serviceClass, { apiVersion, kind, metadata: { name: className }, spec }, { fieldManager })
  onTestFinished(() => fixture.client.delete(serviceClass, { name: className }))
  await startApplicationController(fixture, renderer)
  return { ...fixture, dataServices, className }
}

async function makeInstance({ client, namespace, className }: Platform, name = 'shop-db'): Promise<void> {
  const { apiVersion, kind } = serviceInstance
  await client.apply(
    serviceInstance,
    { apiVersion, kind, metadata: { namespace, name }, spec: { class: className } },
    { fieldManager },
  )
}

async function makeApplication({ client, namespace }: Platform, more: object = {}): Promise<void> {
  const { apiVersion, kind } = application
  const spec = {
    chart: chartOf(namespace),
    image,
    processes: [{ name: 'web', port: 3000, replicas: 0 }],
    services: [{ name: 'db', instance: 'shop-db' }],
    ...more,
  }
  await client.apply(
    application,
    { apiVersion, kind, metadata: { namespace, name: 'shop' }, spec },
    { fieldManager, force: true },
  )
}

const bindingOf = (access: 'ReadWrite' | 'ReadOnly' = 'ReadWrite'): string =>
  ownedBindingName('shop', { name: 'db', instance: 'shop-db', access })

function condition(reason: string, message: string, { metadata }: ServiceBinding) {
  const status = reason === 'Delivered' ? ('True' as const) : ('False' as const)
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  return { type: 'Ready', status, reason, message, lastTransitionTime, observedGeneration: metadata.generation ?? 1 }
}

/** Waits until the Application made the binding. */
function made({ client, namespace }: Platform, name: string): Promise<ServiceBinding> {
  return waitUntil(`ServiceBinding ${name}`, () => client.get(serviceBinding, { namespace, name }))
}

/** What data-services does when it has made and tried a credential: first the Secret, then the status. */
async function deliver(on: Platform, name: string, version: number): Promise<void> {
  const { dataServices, namespace } = on
  const binding = await made(on, name)
  const secret = bindingSecretName(name)
  await dataServices.apply(
    secrets,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: secret, ownerReferences: [ownerReference(binding, { controller: true })] },
      type: bindingSecretType.postgresql,
      stringData: Object.fromEntries(bindingSecretKeys.map(key => [key, `${key}-${version}`])),
    },
    { fieldManager: 'sekisho.dev/service-binding' },
  )
  const status = { binding: { name: secret }, version, conditions: [condition('Delivered', 'delivered', binding)] }
  await report(on, binding, status)
}

async function report({ dataServices, namespace }: Platform, binding: ServiceBinding, status: object): Promise<void> {
  const { apiVersion, kind } = serviceBinding
  const metadata = { namespace, name: binding.metadata.name }
  const object = { apiVersion, kind, metadata, status }
  await dataServices.applyStatus(serviceBinding, object, { fieldManager: 'sekisho.dev/service-binding', force: true })
}

type Container = { readonly env: readonly unknown[]; readonly volumeMounts: readonly unknown[] }

async function podOf({ client, namespace }: Platform) {
  const deployment = await client.get(deployments, { namespace, name: 'shop-web' })
  const template = objectAt(deployment, 'spec', 'template')
  const spec = objectAt(template, 'spec') as unknown as { readonly containers: readonly [Container]; readonly volumes: unknown[] }
  return { annotation: objectAt(template, 'metadata', 'annotations')?.['sekisho.dev/secrets'], spec }
}

const key = ({ namespace }: Platform) => ({ namespace, name: 'shop' })
const messageOf = ({ status }: Application): string => findCondition(status?.conditions, 'Ready')?.message ?? ''
const untilReady = (on: Platform, reason: string): Promise<Application> => readyReason(on.client, application, key(on), reason)

test('the credential arrives, opens the way to its server, and another one replaces the pods', async () => {
  const on = await running()
  const { client, namespace } = on
  await makeApplication(on)
  expect(messageOf(await untilReady(on, 'ServiceNotFound'))).toContain(
    'spec.services[db].instance: there is no ServiceInstance shop-db',
  )
  await makeInstance(on)
  await untilReady(on, 'WaitingForService')
  const binding = await made(on, bindingOf())
  expect(binding.spec).toEqual({ service: { kind: 'ServiceInstance', name: 'shop-db' }, access: 'ReadWrite' })
  expect(binding.metadata.ownerReferences).toMatchObject([{ kind: 'Application', name: 'shop', controller: true }])
  await report(on, binding, { conditions: [condition('WiderThanAsked', 'it entered the database of another', binding)] })
  expect(messageOf(await untilReady(on, 'ServiceNotUsable'))).toContain('(WiderThanAsked): it entered the database of another')
  expect(await client.get(deployments, { namespace, name: 'shop-web' })).toBeUndefined()

  await deliver(on, bindingOf(), 1)
  await untilReady(on, 'Available')
  const { annotation, spec } = await podOf(on)
  const secret = bindingSecretName(bindingOf())
  expect(spec.containers[0].env).toContainEqual({
    name: 'DATABASE_URL',
    valueFrom: { secretKeyRef: { name: secret, key: 'uri' } },
  })
  const policies = await client.list(networkPolicies, { namespace })
  const to = [{ ipBlock: { cidr: '10.0.7.12/32' } }, { ipBlock: { cidr: 'fd00:7::/64' } }]
  const egress = [{ to, ports: [{ protocol: 'TCP', port: 6432 }] }]
  const policyTypes = ['Egress']
  expect(policies.map(one => [one.metadata.name, one.spec]).toSorted()).toEqual([
    ['sekisho-services-shop', { podSelector: { matchLabels: { 'sekisho.dev/application': 'shop' } }, policyTypes, egress }],
    ['sekisho-services-shop-run', { podSelector: { matchLabels: { 'sekisho-cli/task-of': 'shop' } }, policyTypes, egress }],
  ])

  await deliver(on, bindingOf(), 2)
  await waitUntil('another annotation', async () => (await podOf(on)).annotation !== annotation)
  const reasons = (await client.list(release, { namespace })).map(one => [one.spec.number, one.spec.reason])
  expect(reasons.toSorted()).toEqual([
    [1, 'First'],
    [2, 'CredentialReplaced'],
  ])
  // The former one lives on: once no pod has it, that is said, and data-services ends it.
  await untilReady(on, 'Available')
  const issuedAt = '2026-01-01T00:00:00Z'
  const slots = [
    { slot: 'a', state: 'Draining', issuedAt },
    { slot: 'b', state: 'Delivered', issuedAt },
  ]
  const replaced = { binding: { name: secret }, version: 2, slots, conditions: [condition('Delivered', 'delivered', binding)] }
  await report(on, binding, replaced)
  await waitUntil('all pods have the second credential', async () => {
    const found = await client.get(serviceBinding, { namespace, name: bindingOf() })
    return found?.metadata.annotations?.[rolledOutAnnotation] === '2' || undefined
  })
  // A credential that was delivered goes on while its server does not answer, and so do changes of the Application.
  const status = { binding: { name: secret }, version: 2, conditions: [condition('ServerUnreachable', 'no answer', binding)] }
  await report(on, binding, status)
  await makeApplication(on, { env: [{ name: 'A', value: 'b' }] })
  await untilReady(on, 'Available')
})

test('another access is another credential; the former one goes when no pod has it, and with the last one the way', async () => {
  const on = await running()
  const { client, namespace } = on
  await makeInstance(on)
  await makeApplication(on)
  await deliver(on, bindingOf(), 1)
  await untilReady(on, 'Available')

  const env = [{ name: 'SERVICE_BINDING_ROOT', value: '/etc/services' }]
  const services = [{ name: 'db', instance: 'shop-db', access: 'ReadOnly', files: true, env: { PGHOST: 'host' } }]
  await makeApplication(on, { env, services })
  await untilReady(on, 'WaitingForService')
  expect(await client.get(serviceBinding, { namespace, name: bindingOf() })).toBeDefined()
  await deliver(on, bindingOf('ReadOnly'), 1)
  await untilReady(on, 'Available')
  await gone(client, serviceBinding, { namespace, name: bindingOf() })
  const { spec } = await podOf(on)
  const [{ env: variables, volumeMounts }] = spec.containers
  const secretName = bindingSecretName(bindingOf('ReadOnly'))
  expect(variables).toEqual(
    expect.arrayContaining([
      { name: 'PGHOST', valueFrom: { secretKeyRef: { name: secretName, key: 'host' } } },
      { name: 'SERVICE_BINDING_ROOT', value: '/etc/services' },
    ]),
  )
  expect(JSON.stringify(variables)).not.toContain('DATABASE_URL')
  expect(volumeMounts).toContainEqual({ name: 'sekisho-binding-db', mountPath: '/etc/services/db', readOnly: true })
  expect(spec.volumes).toContainEqual({ name: 'sekisho-binding-db', secret: { secretName, defaultMode: 0o644 } })

  await makeApplication(on, { services: [] })
  await untilReady(on, 'Available')
  await gone(client, serviceBinding, { namespace, name: bindingOf('ReadOnly') })
  await waitUntil('no policy', async () => (await client.list(networkPolicies, { namespace })).length === 0)
  expect(JSON.stringify(await podOf(on))).not.toContain('binding-')
})

describe('no credential is made', () => {
  test('for an isolated Application, unless the class is offered to those', async () => {
    const on = await running()
    await makeInstance(on)
    await makeApplication(on, { isolated: true })
    expect(messageOf(await untilReady(on, 'ServiceNotForIsolated'))).toContain('is not offered to isolated Applications')
    expect(await on.client.list(serviceBinding, { namespace: on.namespace })).toEqual([])
    // The class decides at once.
    const spec = { allowIsolated: true }
    await on.client.mergePatch(serviceClass, { name: on.className }, { spec }, { fieldManager })
    await deliver(on, bindingOf(), 1)
    await untilReady(on, 'Available')
    const policies = await on.client.list(networkPolicies, { namespace: on.namespace })
    // Nobody runs commands in it.
    expect(policies.map(({ metadata }) => metadata.name)).toEqual(['sekisho-services-shop'])
  })

  test('for entries that do not fit together', async () => {
    const on = await running()
    await makeInstance(on)
    const two = ['db', 'other'].map(name => ({ name, instance: 'shop-db' }))
    await makeApplication(on, { services: two })
    expect(messageOf(await untilReady(on, 'InvalidServices'))).toContain(
      'spec.services[other].env: spec.services[db] sets DATABASE_URL, too',
    )
    await makeApplication(on, { env: [{ name: 'DATABASE_URL', value: 'postgres://mine' }] })
    await waitUntil('the other cause', async () =>
      messageOf((await on.client.get(application, key(on))) ?? expect.fail()).includes('spec.env sets DATABASE_URL, too'),
    )
    expect(await on.client.list(serviceBinding, { namespace: on.namespace })).toEqual([])
  })

  test('where somebody made a ServiceBinding of its name', async () => {
    const on = await running()
    const { client, namespace } = on
    await makeInstance(on)
    const { apiVersion, kind } = serviceBinding
    const spec = { service: { kind: 'ServiceInstance' as const, name: 'shop-db' } }
    const foreign = { apiVersion, kind, metadata: { namespace, name: bindingOf() }, spec }
    await client.apply(serviceBinding, foreign, { fieldManager })
    await deliver(on, bindingOf(), 1)
    await makeApplication(on)
    expect(messageOf(await untilReady(on, 'NameConflict'))).toContain('exists and does not belong to this Application')
    expect(await client.get(deployments, { namespace, name: 'shop-web' })).toBeUndefined()
  })
})
