// The layers that `make attack --without` switches off, on a real API server with the policies, the webhook and the authorizer of
// this version: off means that what the layer alone refuses passes, back means that all stands as before.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminUser } from '../../dev/cluster/control-plane/certificates.ts'
import { changeTestCluster } from '../../dev/cluster/control-plane/test-cluster.ts'
import { openAuthority } from '../../dev/cluster/pki/authority.ts'
import { standardErrorProgress } from '../../dev/cluster/progress.ts'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { type LayerName, layerSwitches } from '../../dev/up/layers/list.ts'
import {
  admissionPath,
  mutationsLayer,
  policiesLayer,
  type ShippedAdmission,
  shippedAdmission,
  webhookLayer,
} from '../../dev/up/layers/registrations.ts'
import { putBackLayer, type Switching, withoutLayer } from '../../dev/up/layers/switch.ts'
import { createAdmissionApp } from '../../src/admission/app.ts'
import { policyFiles } from '../../src/admission/policies.ts'
import { registrations } from '../../src/admission/registrations.ts'
import { createAuthorizerApp } from '../../src/authorizer/app.ts'
import { accessOf } from '../../src/authorizer/named-subjects.ts'
import { makeOpeningKey, openingKeyOf } from '../../src/identity/sealed-values/open.ts'
import { sealerOf } from '../../src/identity/sealed-values/seal.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { timeLimit } from '../../src/lib/waiting/limits.ts'
import { createCertificate } from '../../src/web/tls.ts'
import { webhookCertificate } from '../fixtures/webhook-certificate.ts'
import { type AttackCluster, startAttackCluster, webhookAddress } from './attack-cluster.ts'
import { namespace } from './objects.ts'

const name = 'layers-cluster'
const webhook = webhookAddress({ name })
const asked = { host: webhook.host, port: webhook.port + 1 }
const authorizer = { server: `https://${asked.host}:${asked.port}`, serverName: 'authorizer.test', unasked: [adminUser] }
const stateFolder = mkdtempSync(join(tmpdir(), 'layers-'))
let cluster: AttackCluster
let shipped: readonly ShippedAdmission[]
const ends: (() => Promise<unknown>)[] = []

async function startWebhook(): Promise<readonly ShippedAdmission[]> {
  const { authorityPem, pair } = await webhookCertificate()
  const sealer = await sealerOf((await openingKeyOf(await makeOpeningKey(new Date()))).publicKey)
  const app = createAdmissionApp({
    clock: systemClock,
    log: silentLog,
    address: webhook,
    certificate: createCertificate({ ...pair, clientAuthorities: cluster.clientAuthorities }),
    clientNames: ['kube-apiserver'],
    findSealer: async () => sealer,
  })
  await app.start()
  ends.push(app.stop)
  const target = { kind: 'url', origin: `https://${webhook.host}:${webhook.port}`, authorityPem } as const
  return registrations(target) as unknown as readonly ShippedAdmission[]
}

async function startAuthorizer(): Promise<void> {
  const authority = await openAuthority(dirname(cluster.authorityFile), 'ca', 'sekisho-dev-ca')
  const names = [authorizer.serverName]
  const leaf = await authority.leaf('authorizer', { commonName: 'authorizer', usage: 'server', names })
  const app = createAuthorizerApp({
    clock: systemClock,
    log: silentLog,
    address: asked,
    certificate: createCertificate({
      certificate: readFileSync(leaf.certificate, 'utf8'),
      privateKey: new SecretString(readFileSync(leaf.key, 'utf8')),
      clientAuthorities: cluster.clientAuthorities,
    }),
    clientNames: ['kube-apiserver'],
    access: () => accessOf({ readers: '', namespaces: '' }),
    answered: () => {},
  })
  await app.start()
  ends.push(app.stop)
}

function switching(): Switching {
  const deps = { settings: readClusterSettings(), progress: standardErrorProgress() }
  const of = { shipped: async () => shipped }
  return {
    admin: cluster.admin,
    stateFolder,
    switches: {
      ...layerSwitches(deps.settings.repository),
      policies: policiesLayer(of),
      mutations: mutationsLayer(of),
      webhook: webhookLayer(of),
    },
    apiServerWithout: without =>
      changeTestCluster(deps, { name, authorizer, webhookHosts: [`${webhook.host}:${webhook.port}`], without }),
  }
}

const standingOf = (layer: LayerName) => switching().switches[layer].standing(switching())

beforeAll(async () => {
  cluster = await startAttackCluster({ name, authorizer })
  await startAuthorizer()
  const { admin } = cluster
  for (const [where, purpose] of [
    ['acme', 'application'],
    ['acme-build', 'build'],
  ] as const)
    await admin.call(
      'POST',
      '/api/v1/namespaces',
      namespace(where, {
        'sekisho.dev/tenant': 'acme',
        'sekisho.dev/purpose': purpose,
        'sekisho.dev/first-user': '1073807360',
        'pod-security.kubernetes.io/enforce': 'restricted',
      }),
    )
  await admin.call('POST', '/api/v1/namespaces', namespace('sekisho-system', {}))
  const policies = [...policyFiles().values()].flat() as unknown as readonly ShippedAdmission[]
  shipped = [...policies, ...(await startWebhook())]
  for (const one of shipped) await admin.apply(admissionPath(one), one as never)
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
  await cluster?.stop()
  rmSync(stateFolder, { recursive: true, force: true })
})

/** What decides, without what every write changes. */
async function standingObjects(): Promise<readonly unknown[]> {
  const answers = await Promise.all(shipped.map(one => cluster.admin.request('GET', admissionPath(one))))
  return answers.map(({ status, body }) => {
    const { spec, webhooks, metadata } = body as ShippedAdmission & { readonly metadata: { readonly labels?: object } }
    return { status, name: metadata.name, labels: metadata.labels, spec, webhooks }
  })
}

test('deploy/policies is what is switched off', async () => {
  const files = await shippedAdmission(readClusterSettings().repository)
  const label = ({ kind, metadata }: ShippedAdmission): string => `${kind} ${metadata.name}`
  expect(files.map(label).toSorted()).toEqual(shipped.map(label).toSorted())
})

test.each(['policies', 'mutations', 'webhook', 'authorizer', 'pod-security'] as const)(
  'without %s what it refuses passes, the others stand, and it is put back as it was',
  async layer => {
    const others = (['policies', 'mutations', 'webhook', 'authorizer', 'pod-security'] as const).filter(one => one !== layer)
    const before = await standingObjects()
    const standing = await withoutLayer(switching(), layer, async () => {
      // Pods and Services are judged after they were changed, so what changes them may hide what refuses them, not the other way.
      const seen = await Promise.all(others.map(async one => [one, await standingOf(one)] as const))
      return [[layer, await standingOf(layer)] as const, ...seen]
    })
    expect(standing).toEqual([[layer, 'off'], ...others.map(one => [one, 'on'])])
    expect(await standingObjects()).toEqual(before)
    expect(await standingOf(layer)).toBe('on')
  },
  timeLimit(90_000),
)

test('a run that was killed with a layer off: the next one puts it back', async () => {
  const before = await standingObjects()
  const killed = { ...switching(), switches: { ...switching().switches } }
  const { policies } = killed.switches
  const dies = { ...policies, on: () => Promise.reject(new Error('killed')) }
  await expect(
    withoutLayer({ ...killed, switches: { ...killed.switches, policies: dies } }, 'policies', async () => {}),
  ).rejects.toThrow('IS NOT BACK')
  expect(await standingOf('policies')).toBe('off')
  expect(await putBackLayer(switching())).toBe('policies')
  expect(await standingObjects()).toEqual(before)
  expect(await standingOf('policies')).toBe('on')
})

test('network policies: one more in every namespace of tenants and of the platform, and none of them afterwards', async () => {
  const added = async () => {
    const { items } = (await cluster.admin.call('GET', '/apis/networking.k8s.io/v1/networkpolicies')) as {
      readonly items: readonly { readonly metadata: { readonly name: string; readonly namespace: string } }[]
    }
    return items.map(({ metadata }) => metadata.namespace).toSorted()
  }
  // No pod runs here: whether they meet follows what stands.
  const podsMeet = async () => (await added()).length > 0
  const deps = { ...switching(), podsMeet }
  expect(await withoutLayer(deps, 'network', added)).toEqual(['acme', 'acme-build', 'sekisho-system'])
  expect(await added()).toEqual([])
})
