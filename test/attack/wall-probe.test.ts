// The probe of the walls on a real API server, with the rights that the platform ships: a wall that an administrator switches
// off is named, in the record, the condition of the Tenant, an Event and a metric; when it is back, it holds again.
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Manifest, policyFiles } from '../../src/admission/policies.ts'
import { registrations } from '../../src/admission/registrations.ts'
import type { ConfigMap } from '../../src/api/builtin/index.ts'
import { type Tenant, tenant as tenants } from '../../src/api/tenancy/tenant.ts'
import { wallProbeAccount } from '../../src/api/wall-names.ts'
import { wallsCondition } from '../../src/controllers/tenant/walls/walls-condition.ts'
import { createKubeClient } from '../../src/kube/client/kube-client.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { openWallProbe } from '../../src/services/wall-probe/open.ts'
import { recordedWalls } from '../../src/services/wall-probe/record.ts'
import { startManager } from '../fixtures/open-manager.ts'
import { connectionOf, giveRights, installRights } from '../fixtures/platform-rights.ts'
import { admissionPath } from '../fixtures/policies.ts'
import { writeStatus } from '../fixtures/write-status.ts'
import { type AttackCluster, startAttackCluster } from './attack-cluster.ts'
import { namespace, tenant } from './objects.ts'

const account = 'sekisho-controllers'
const recordPath = '/api/v1/namespaces/sekisho-system/configmaps/sekisho-wall-status'
const shipped: readonly Manifest[] = [...[...policyFiles().values()].flat(), ...registrations({ kind: 'service' })]
const named = (kind: string, name: string): Manifest => {
  const found = shipped.find(one => one.kind === kind && one.metadata.name === name)
  return found ?? expect.fail(`${kind} ${name} is not shipped`)
}

let cluster: AttackCluster
let metrics: Registry
const ends: (() => Promise<unknown>)[] = []

/** As a Tenant controller leaves them. */
async function makeTenant(admin: AttackCluster['admin'], name: string): Promise<void> {
  await admin.call('POST', '/apis/tenancy.sekisho.dev/v1alpha1/tenants', tenant(name))
  for (const [where, purpose] of [
    [name, 'application'],
    [`${name}-build`, 'build'],
  ] as const) {
    const labels = {
      'sekisho.dev/tenant': name,
      'sekisho.dev/purpose': purpose,
      'sekisho.dev/first-user': '1073807360',
      'pod-security.kubernetes.io/enforce': 'restricted',
    }
    await admin.call('POST', '/api/v1/namespaces', namespace(where, labels))
    await admin.call('POST', `/apis/networking.k8s.io/v1/namespaces/${where}/networkpolicies`, {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'sekisho-deny-all', labels },
      spec: { podSelector: {}, policyTypes: ['Egress', 'Ingress'] },
    })
    await giveRights(admin, where, [purpose])
  }
  const lastTransitionTime = new Date().toISOString()
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'NamespacesReady',
    message: '',
    observedGeneration: 1,
    lastTransitionTime,
  }
  await writeStatus(admin, tenants, { name }, { namespace: name, conditions: [ready] })
}

beforeAll(async () => {
  cluster = await startAttackCluster({ name: 'walls-cluster' })
  const { admin, kubeconfig } = cluster
  await installRights(admin)
  await makeTenant(admin, 'acme')
  for (const manifest of shipped) await admin.apply(admissionPath(manifest), manifest)
  const connection = await connectionOf(kubeconfig, admin, account)
  const common = { component: account, clock: systemClock, random: Math.random }
  const client = createKubeClient({ connection, ...common })
  ends.push(client.close)
  const kubeWith = (token: SecretString) => {
    const header = new SecretString(`Bearer ${token.reveal()}`)
    return createKubeClient({ connection: { ...connection, authorization: async () => header }, ...common })
  }
  metrics = new Registry()
  const started = await startManager(client, ({ manager, events, clock }) => {
    const settings = { wallProbeSeconds: 1, buildkitImage: undefined }
    const probe = openWallProbe({ settings, manager, kubeWith, events, metrics, clock, log: silentLog })
    ends.push(probe.stop)
    probe.start()
    return []
  })
  ends.push(started.stop)
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
  await cluster?.stop()
})

async function record(): Promise<ConfigMap | undefined> {
  const { status, body } = await cluster.admin.request('GET', recordPath)
  return status === 200 ? (body as ConfigMap) : undefined
}

/** The walls that are off, with what is said about each. */
async function off(): Promise<Readonly<Record<string, readonly string[]>>> {
  const known = recordedWalls(await record())
  if (known === undefined) throw new Error('nothing is recorded')
  const findings = known.findings.filter(({ verdict }) => verdict === 'Off')
  return Object.fromEntries(
    [...Map.groupBy(findings, ({ wall }) => wall)].map(([wall, all]) => [wall, all.map(({ text }) => text)]),
  )
}

const waiting = { timeoutMilliseconds: limits.rollout }

const untilHolds = () =>
  waitUntil(
    'all walls to hold',
    async () => {
      const { data } = (await record()) ?? {}
      if (data?.['state'] === 'Holds') return true
      throw new Error(data?.['findings'])
    },
    waiting,
  )

const untilOff = (...walls: readonly string[]) =>
  waitUntil(
    `${walls.join(', ')} to be off`,
    async () => {
      const now = await off()
      if (walls.every(wall => wall in now)) return now
      throw new Error(JSON.stringify(now))
    },
    waiting,
  )

async function condition() {
  const object = (await cluster.admin.call('GET', '/apis/tenancy.sekisho.dev/v1alpha1/tenants/acme')) as Tenant
  return wallsCondition(object, recordedWalls(await record()))
}

async function eventsOf(reason: string): Promise<readonly string[]> {
  const { items } = (await cluster.admin.call('GET', '/api/v1/namespaces/sekisho-system/events')) as {
    readonly items: readonly { readonly reason: string; readonly message: string }[]
  }
  return items.filter(item => item.reason === reason).map(({ message }) => message)
}

const gauge = async (wall: string): Promise<string | undefined> =>
  new RegExp(`^sekisho_wall_holds{wall="${wall}"} (.*)$`, 'm').exec(await metrics.metrics())?.[1]

test('what is shipped stands and refuses', async () => {
  await untilHolds()
  expect(await condition()).toMatchObject({ status: 'True', reason: 'WallsHold' })
  expect(await Promise.all(['validating-policies', 'own-writes', 'secrets'].map(gauge))).toEqual(['1', '1', '1'])
})

test('a binding that an administrator deletes is named, and holds again when it is back', async () => {
  const binding = named('ValidatingAdmissionPolicyBinding', 'sekisho-pod-exec')
  const text = 'ValidatingAdmissionPolicyBinding sekisho-pod-exec is not installed'
  await cluster.admin.call('DELETE', admissionPath(binding))
  expect(await untilOff('validating-policies')).toEqual({ 'validating-policies': [text] })
  expect(await condition()).toMatchObject({ status: 'False', reason: 'WallOff', message: `validating-policies: ${text}` })
  expect(await gauge('validating-policies')).toBe('0')
  await waitUntil('an Event says so', async () => (await eventsOf('WallOff')).some(message => message.includes(text)))
  await cluster.admin.apply(admissionPath(binding), binding)
  await untilHolds()
  await waitUntil('an Event says that it holds', async () =>
    (await eventsOf('WallHolds')).includes('validating-policies holds again'),
  )
  expect(await gauge('validating-policies')).toBe('1')
})

test('a policy that stands and is asked nothing any more is found by what differs, and by what it lets through', async () => {
  const policy = named('ValidatingAdmissionPolicy', 'sekisho-secret-references')
  const never = [{ name: 'never', expression: 'false' }]
  await cluster.admin.call('PATCH', admissionPath(policy), { spec: { matchConditions: never } }, 'application/merge-patch+json')
  const now = await untilOff('validating-policies', 'secret-references')
  expect(now['validating-policies']).toEqual([
    'ValidatingAdmissionPolicy sekisho-secret-references differs from what this version ships: spec.matchConditions',
  ])
  expect(now['secret-references']).toEqual([
    expect.stringContaining('was allowed to make a Deployment with the Secret ghtok-'),
    expect.stringContaining('was allowed to make a Deployment that mounts the Secret ghtok-'),
  ])
  await cluster.admin.call('PATCH', admissionPath(policy), { spec: { matchConditions: null } }, 'application/merge-patch+json')
  await untilHolds()
})

test('a webhook that is called for less, and one that is added, differ', async () => {
  const path = admissionPath(named('ValidatingWebhookConfiguration', 'sekisho-admission'))
  const found = (await cluster.admin.call('GET', path)) as { readonly webhooks: readonly { readonly name: string }[] }
  const [first, ...others] = found.webhooks
  const narrowed = { ...first, objectSelector: { matchLabels: { never: 'x' } } }
  await cluster.admin.call('PATCH', path, { webhooks: [narrowed, ...others] }, 'application/merge-patch+json')
  expect(await untilOff('webhook-registrations')).toEqual({
    'webhook-registrations': [expect.stringContaining(`webhooks.${first?.name}.objectSelector`)],
  })
  await cluster.admin.call('PATCH', path, { webhooks: found.webhooks }, 'application/merge-patch+json')
  await untilHolds()
})

test.each([
  ['own-writes', 'ValidatingAdmissionPolicyBinding', /was allowed to make a Secret in a tenant’s namespace that no right/],
  ['mutating-policies', 'MutatingAdmissionPolicyBinding', /MutatingAdmissionPolicyBinding .* is not installed/],
] as const)('%s: without its %s it is off', async (wall, kind, text) => {
  const binding = shipped.find(one => one.kind === kind && (wall !== 'own-writes' || one.metadata.name === 'sekisho-own-writes'))
  if (binding === undefined) return expect.fail(kind)
  await cluster.admin.call('DELETE', admissionPath(binding))
  expect((await untilOff(wall))[wall]).toEqual([expect.stringMatching(text)])
  await cluster.admin.apply(admissionPath(binding), binding)
  await untilHolds()
})

const relabel = (labels: Readonly<Record<string, string>>) =>
  cluster.admin.call('PATCH', '/api/v1/namespaces/acme-build', { metadata: { labels } }, 'application/merge-patch+json')

test('Pod Security that is off is found although a policy refuses the same pod behind it', async () => {
  await relabel({ 'pod-security.kubernetes.io/enforce': 'privileged' })
  // What is compared is said first.
  const found = await waitUntil(
    'both to be said',
    async () => {
      const said = (await off())['pod-security'] ?? []
      return said.some(text => text.includes('enforce is privileged')) && said.length > 1 ? said : undefined
    },
    waiting,
  )
  expect(found).toContainEqual(expect.stringMatching(/only a wall behind it refused: .*sekisho-build-pods/))
  await relabel({ 'pod-security.kubernetes.io/enforce': 'restricted' })
  await untilHolds()
})

test('labels and the network policy of a namespace that are not there any more are named', async () => {
  const policies = '/apis/networking.k8s.io/v1/namespaces/acme-build/networkpolicies'
  const policy = (await cluster.admin.call('GET', `${policies}/sekisho-deny-all`)) as {
    readonly metadata: { readonly labels: object }
    readonly spec: object
  }
  await relabel({ 'sekisho.dev/purpose': 'application' })
  await cluster.admin.call('DELETE', `${policies}/sekisho-deny-all`)
  await untilOff('namespace-labels', 'network-default-deny')
  const metadata = { name: 'sekisho-deny-all', labels: policy.metadata.labels }
  await cluster.admin.call('POST', policies, {
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
    ...{ metadata, spec: policy.spec },
  })
  await relabel({ 'sekisho.dev/purpose': 'build' })
  await untilHolds()
})

test('a selector that a cloud adds to registrations is no wall that is off, unless it leaves out a tenant', async () => {
  const path = admissionPath(named('ValidatingWebhookConfiguration', 'sekisho-admission'))
  type Webhook = { readonly namespaceSelector?: { readonly matchExpressions?: readonly object[] } }
  const found = (await cluster.admin.call('GET', path)) as { readonly webhooks: readonly Webhook[] }
  const withAdded = (added: object): readonly Webhook[] =>
    found.webhooks.map(one => {
      const matchExpressions = [...(one.namespaceSelector?.matchExpressions ?? []), added]
      return { ...one, namespaceSelector: { ...one.namespaceSelector, matchExpressions } }
    })
  const change = (webhooks: readonly Webhook[]) => cluster.admin.call('PATCH', path, { webhooks }, 'application/merge-patch+json')
  await change(withAdded({ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['acme'] }))
  await untilOff('webhook-registrations')
  await change(withAdded({ key: 'control-plane', operator: 'DoesNotExist' }))
  await untilHolds()
  await change(found.webhooks)
})

test('a right that is given to every ServiceAccount is found by requests of one that has none', async () => {
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const apiGroup = 'rbac.authorization.k8s.io'
  await cluster.admin.call('POST', `/apis/${apiVersion}/clusterrolebindings`, {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'too-wide' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup, kind: 'Group', name: 'system:serviceaccounts' }],
  })
  const now = await untilOff('secrets', 'pod-connections', 'account-tokens', 'tenants')
  expect(now['secrets']).toContainEqual(
    `the ServiceAccount ${wallProbeAccount}, which has no right, was allowed to list Secrets (it succeeded)`,
  )
  // What admission refuses as well goes on being refused.
  expect(Object.keys(now)).not.toContain('installations')
  await cluster.admin.call('DELETE', `/apis/${apiVersion}/clusterrolebindings/too-wide`)
  await untilHolds()
})

test('a wall that cannot be tried counts as off after a while, and says why', async () => {
  const path = `/api/v1/namespaces/sekisho-system/serviceaccounts/${wallProbeAccount}`
  await cluster.admin.call('DELETE', path)
  const now = await untilOff('secrets', 'installations')
  expect(now['secrets']).toEqual([
    expect.stringMatching(
      /^it could not be looked at for 3 rounds: no token of the ServiceAccount sekisho-wall-probe: .*not found/,
    ),
  ])
  await cluster.admin.apply(path, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: wallProbeAccount } })
  await untilHolds()
})
