// A dry run of a policy on a real API server with the real webhook and kubectl: it warns of the grants that the controllers
// counted, and an ordinary write is neither warned of nor sent.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { catalog } from '../../dev/cluster/binaries/catalog.ts'
import { ensureBinary } from '../../dev/cluster/binaries/ensure-binary.ts'
import { tryCommand } from '../../dev/cluster/run-command.ts'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { registrations } from '../../src/admission/registrations.ts'
import { createReviewServer } from '../../src/admission/review-server.ts'
import { clusterGrantPolicy, type GrantPolicy, grantPolicy } from '../../src/api/github/grant-policy.ts'
import { repositoryGrant } from '../../src/api/github/repository-grant.ts'
import type { KindDefinition } from '../../src/api/kind.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { silentLog as log } from '../../src/lib/testing/silent-log.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { createCertificate } from '../../src/web/tls.ts'
import { readyReason } from '../fixtures/application-fixture.ts'
import { testAdmin, testKubeconfig } from '../fixtures/harness.ts'
import { quiet } from '../fixtures/quiet.ts'
import { type DeskEnvironment, startDeskEnvironment, type TenantFixture, withTenant } from '../fixtures/token-desk-fixture.ts'
import { webhookCertificate } from '../fixtures/webhook-certificate.ts'

let environment: DeskEnvironment
let program: string
beforeAll(async () => {
  const progress = { note: () => {}, step: <T>(_name: string, work: () => Promise<T>) => work() }
  program = (await ensureBinary(catalog.kubernetes, { settings: readClusterSettings(), progress })).path('kubectl')
  environment = await startDeskEnvironment()
})
afterAll(() => environment?.stop())

const fieldManager = 'test'
const denyShop = { name: 'no-shop', effect: 'Deny', repositories: ['acme/sh*'], permissions: { contents: 'read' } }
const denyAll = { name: 'nothing', effect: 'Deny', permissions: { '*': 'read' } }

type Warned = TenantFixture & {
  /** How many reviews the API server sent. */
  readonly calls: () => number
  /** The warnings that kubectl shows. */
  readonly kubectl: (args: readonly string[], object: object) => Promise<readonly string[]>
}

/** A tenant whose policies the API server sends to the webhook, and nobody else's: test files share the server. */
async function warnedTenant(): Promise<Warned> {
  const fixture = await withTenant(environment)
  const { namespace } = fixture
  const { authorityPem, pair } = await webhookCertificate()
  let calls = 0
  const onRequest = (): 'more' => {
    calls += 1
    return 'more'
  }
  const server = createReviewServer({ log, certificate: createCertificate(pair), onRequest })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  const [validating] = registrations({ kind: 'url', origin: `https://127.0.0.1:${port}`, authorityPem })
  if (validating === undefined) throw new Error('there is no registration')
  const all = (validating as unknown as { readonly webhooks: readonly { name: string; matchConditions: object[] }[] }).webhooks
  const ofThis = `request.?namespace.orValue('') == '${namespace}' || request.name == '${namespace}'`
  const webhooks = all
    .filter(one => one.name.startsWith('policy-warnings'))
    .map(one => ({ ...one, matchConditions: [...one.matchConditions, { name: 'of-this-test', expression: ofThis }] }))
  const admin = await testAdmin()
  const name = `warnings-${namespace}`
  const path = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${name}`
  await admin.apply(path, { ...validating, metadata: { name }, webhooks })
  onTestFinished(async () => {
    await admin.call('DELETE', path)
    const closed = server.close()
    server.closeAllConnections()
    await closed
  })
  const kubectl = async (args: readonly string[], object: object): Promise<readonly string[]> => {
    const options = { environment: { KUBECONFIG: testKubeconfig() }, input: stringify(object) }
    const { code, errorOutput } = await tryCommand(program, [...args, '-f', '-'], options)
    expect({ code, errorOutput }).toMatchObject({ code: 0 })
    return errorOutput.split('\n').flatMap(line => (line.startsWith('Warning: ') ? [line.slice('Warning: '.length)] : []))
  }
  await fixture.applyTenant()
  await readyReason(fixture.client, tenant, { name: namespace }, 'NamespacesReady')
  await fixture.bind()
  const warned = { ...fixture, calls: () => calls, kubectl }
  await waitUntil('the API server calls the webhook', async () => {
    await kubectl(dryRun, policyOf(warned, [denyAll]))
    return calls > 0 ? true : undefined
  })
  return warned
}

const mayEnd = 'New or changed rules that deny or require approval may end grants that other rules approved.'
const dryRun = ['apply', '--dry-run=server']

function policyOf({ namespace }: TenantFixture, rules: readonly object[], kind: KindDefinition<GrantPolicy> = grantPolicy) {
  const metadata = kind.namespaced ? { name: 'rules', namespace } : { name: namespace }
  return { apiVersion: kind.apiVersion, kind: kind.kind, metadata, spec: { rules } } as unknown as GrantPolicy
}

/** Wakes the controller, as its minute does, until the policy has these counts. */
async function counted({ client }: TenantFixture, { metadata, kind }: GrantPolicy, counts: object): Promise<GrantPolicy> {
  const type: KindDefinition<GrantPolicy> = kind === grantPolicy.kind ? grantPolicy : clusterGrantPolicy
  const { name, namespace } = metadata
  const key = namespace === undefined ? { name } : { name, namespace }
  let round = 0
  return waitUntil('the grants to be counted', async seen => {
    await client.mergePatch(type, key, { metadata: { annotations: { woken: String(round++) } } }, { fieldManager })
    const now = await client.get(type, key)
    seen(now?.status?.grants)
    const isCounted = Object.entries(counts).every(([field, count]) =>
      Object.entries(now?.status?.grants ?? {}).some(([a, b]) => a === field && b === count),
    )
    return isCounted ? now : undefined
  })
}

test('kubectl shows whom a change of a GrantPolicy hits at a dry run, and nothing at a write', async () => {
  const fixture = await warnedTenant()
  const { client, namespace, kubectl, calls } = fixture
  const policy = policyOf(fixture, [denyShop])
  expect(await kubectl(dryRun, policy)).toEqual([
    'GrantPolicy rules is new: the grants that it decides are not counted yet.',
    'New rules: 1 Deny.',
    mayEnd,
    'Which grants it is about: sekisho policy test -f <file>',
  ])

  const before = calls()
  expect(await kubectl(['apply'], policy)).toEqual([])
  expect(calls()).toBe(before)
  await fixture.requestGrant('read-shop', 'dave')
  await readyReason(client, repositoryGrant, { namespace, name: 'read-shop' }, 'DeniedByGrantPolicy')
  const { status } = await counted(fixture, policy, { approved: 0, waiting: 0, denied: 1 })
  expect(status?.grants?.rules).toEqual([{ name: 'no-shop', approved: 0, waiting: 0, denied: 1 }])

  const decided = 'Grants that GrantPolicy rules decided: 1 denied.'
  expect(await kubectl(dryRun, policyOf(fixture, [denyAll]))).toEqual([
    decided,
    'Rule no-shop goes; grants that it decided: 1 denied.',
    'New rules: 1 Deny.',
    mayEnd,
    'Which grants it is about: sekisho policy test -f <file>',
  ])
  expect(await kubectl([...dryRun, '--server-side', '--force-conflicts'], policyOf(fixture, [denyAll]))).toContain(decided)
  expect(await kubectl(dryRun, policy)).toEqual([])
  expect(await kubectl(['delete', '--dry-run=server'], policy)).toEqual([
    decided,
    'Which grants it is about: sekisho policy test --deleted -f <file>',
  ])

  // Counting again writes nothing.
  await quiet(fixture)
  const writes = fixture.writes.length
  await client.mergePatch(
    grantPolicy,
    { namespace, name: 'rules' },
    { metadata: { annotations: { woken: 'again' } } },
    { fieldManager },
  )
  await quiet(fixture)
  expect(fixture.writes.slice(writes)).toEqual([])

  expect(calls()).toBeGreaterThan(before)
  const dryRuns = calls()
  expect(await kubectl(['delete'], policy)).toEqual([])
  expect(calls()).toBe(dryRuns)
})

test('and of a ClusterGrantPolicy, with the grants that are approved', async () => {
  const fixture = await warnedTenant()
  const { client, namespace, kubectl } = fixture
  const reading = { name: 'reading', effect: 'Allow', permissions: { contents: 'read' } }
  const policy = {
    ...policyOf(fixture, [reading], clusterGrantPolicy),
    spec: { builtInRules: 'Replace', rules: [reading] },
  } as unknown as GrantPolicy
  await kubectl(['apply'], policy)
  await fixture.requestGrant('read-shop', 'dave')
  await readyReason(client, repositoryGrant, { namespace, name: 'read-shop' }, 'Approved')
  await counted(fixture, policy, { approved: 1, waiting: 0, denied: 0 })
  expect(await kubectl(['delete', '--dry-run=server'], policy)).toEqual([
    `Grants that ClusterGrantPolicy ${namespace} decided: 1 approved.`,
    'Which grants it is about: sekisho policy test --deleted --all-namespaces -f <file>',
  ])
  await kubectl(['delete'], policy)
})
