// The overlay for a cluster of the user's, as kustomize renders it on both forms: it says what the plan says, and nothing of
// this machine.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { catalog } from '../../dev/cluster/binaries/catalog.ts'
import { ensureBinary } from '../../dev/cluster/binaries/ensure-binary.ts'
import { silentProgress } from '../../dev/cluster/progress.ts'
import { runCommand } from '../../dev/cluster/run-command.ts'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import type { Plan } from '../../dev/up/given-cluster/decision/plan.ts'
import { givenPodSettings } from '../../dev/up/given-cluster/pod-settings.ts'
import { neededRights } from '../../dev/up/given-cluster/rights.ts'
import { type Mode, modes } from '../../dev/up/mode.ts'
import { givenOverlay, installerAnnotation } from '../../dev/up/overlay/given.ts'
import { restartPatch, writeKustomization } from '../../dev/up/overlay/overlay.ts'

type Rendered = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> }
  readonly spec?: Record<string, unknown>
  readonly data?: Readonly<Record<string, string>>
  readonly webhooks?: readonly { readonly clientConfig: { readonly caBundle?: string } }[]
}

const settings = readClusterSettings()
const image =
  'registry.example.com:5443/team/sekisho/sekisho@sha256:0000000000000000000000000000000000000000000000000000000000000000'
const rendered: Record<string, readonly Rendered[]> = {}
let scratch: string

function planOf(mode: Mode): Plan {
  return {
    mode,
    registry: {
      reference: 'registry.example.com:5443/team',
      authentication: 'token-server',
      platform: 'other.example.com/team',
      pullSecret: 'pull',
      realm: new URL('https://tokens.example.com/token'),
    },
    broker: { url: new URL('https://sekisho.example.com'), expose: 'LoadBalancer', certificate: null },
    ingress: { className: 'nginx', from: 'ingress-nginx', applicationUrl: new URL('https://apps.example.net') },
    storageClass: mode === 'standalone' ? 'fast' : null,
    database: mode === 'production' ? { ownerUrl: 'postgresql://o:p@db:6432/sekisho', authority: null } : null,
    apiServer: { url: 'https://kubernetes.example.com:16443', port: 16_443, from: ['10.0.0.5/32', '10.0.0.6/32'] },
    github: { kind: 'emulator', address: '10.0.0.9' },
    accounts: 'any',
    builder: { name: 'sekisho', make: true },
    platformSettings: {},
    mutations: 'v1',
  }
}

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'given-'))
  const kubernetes = await ensureBinary(catalog.kubernetes, { settings, progress: silentProgress })
  const render = async (folder: string) =>
    parseAllDocuments(await runCommand(kubernetes.path('kubectl'), ['kustomize', folder])).map(
      document => document.toJS() as Rendered,
    )
  for (const mode of modes) {
    const plan = planOf(mode)
    const environment = givenPodSettings(plan)
    const { main, migration } = givenOverlay({ plan, environment, fingerprint: 'f00d', admissionAuthorities: 'authority' })
    const base = join(settings.repository, 'deploy', mode)
    const folder = join(scratch, mode)
    const part = { ...main, patches: [...main.patches, restartPatch(environment)] }
    await writeKustomization({ folder, base, image, part })
    rendered[mode] = await render(folder)
    if (mode === 'standalone') continue
    await writeKustomization({ folder: join(folder, 'migration'), base: join(base, 'migration'), image, part: migration })
    rendered['migration'] = await render(join(folder, 'migration'))
  }
})
afterAll(() => rm(scratch, { recursive: true, force: true }))

function object(form: string, kind: string, name: string): Rendered {
  const found = rendered[form]?.find(item => item.kind === kind && item.metadata.name === name)
  if (found === undefined) throw new Error(`${form} has no ${kind} ${name}`)
  return found
}

function portsOf(form: string, policy: string): string {
  return JSON.stringify(object(form, 'NetworkPolicy', policy).spec?.['egress'])
}

describe.each([...modes])('%s', form => {
  test('nothing of this machine is in it', () => {
    const kinds = [
      'Service',
      'Deployment',
      'PersistentVolumeClaim',
      'PersistentVolume',
      'NetworkPolicy',
      'ConfigMap',
      'EndpointSlice',
    ]
    const objects = rendered[form]?.filter(({ kind }) => kinds.includes(kind)) ?? []
    const text = JSON.stringify(objects)
    const { nodeAddress, podGateway, podCidr, registryTokenAddress } = settings
    const words = ['externalIPs', 'hostPath', '"PersistentVolume"', nodeAddress, podGateway, podCidr, registryTokenAddress]
    expect(words.filter(word => text.includes(word))).toEqual([])
    expect(objects.length).toBeGreaterThan(10)
  })

  test('policies that change pods are in the version that the cluster serves', () => {
    for (const kind of ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'])
      expect(object(form, kind, 'sekisho-pod-users').apiVersion).toBe('admissionregistration.k8s.io/v1')
  })

  test('the broker is exposed at the port of the public URL, with the addresses of clients', () => {
    expect(object(form, 'Service', 'sekisho-broker').spec).toMatchObject({
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      ports: [{ port: 443, targetPort: 'broker' }],
    })
    expect(object(form, 'Service', 'sekisho-token-desk').spec?.['type']).toBeUndefined()
  })

  test('every pod of the platform has the image by its digest and the pull credential', () => {
    const deployments = rendered[form]?.filter(({ kind }) => kind === 'Deployment') ?? []
    expect(deployments.length).toBe(form === 'standalone' ? 2 : 5)
    for (const { metadata, spec } of deployments) {
      const text = JSON.stringify(spec)
      expect(text, metadata.name).toContain('"imagePullSecrets":[{"name":"pull"}]')
      expect(text, metadata.name).toContain(image)
    }
  })

  test('API servers reach the webhooks and trust them, and the platform reaches what the plan names', () => {
    const from = [{ ipBlock: { cidr: '10.0.0.5/32' } }, { ipBlock: { cidr: '10.0.0.6/32' } }]
    for (const [name, port] of Object.entries({ 'sekisho-admission': 9443, 'sekisho-access-records': 9444 }))
      expect(object(form, 'NetworkPolicy', name).spec?.['ingress']).toEqual([{ from, ports: [{ protocol: 'TCP', port }] }])
    const closed = rendered[form]?.filter(({ kind, spec }) => kind === 'NetworkPolicy' && isEmpty(spec?.['ingress']))
    expect(
      closed?.map(({ metadata }) => metadata.name),
      'policies of deploy/base that wait for a patch',
    ).toEqual([])
    const webhooks = rendered[form]?.flatMap(item => item.webhooks ?? []) ?? []
    expect(webhooks.length).toBeGreaterThan(0)
    for (const { clientConfig } of webhooks) expect(clientConfig.caBundle).toBe(Buffer.from('authority').toString('base64'))
    const database = form === 'production' ? ['"port":6432'] : []
    for (const port of ['"port":16443', '"cidr":"10.0.0.9/32"', '"port":4000', ...database]) {
      expect(portsOf(form, 'sekisho-broker-egress')).toContain(port)
      expect(portsOf(form, 'sekisho-controllers-egress')).toContain(port)
    }
    expect(portsOf(form, 'sekisho-controllers-egress')).toContain('"port":5443')
    expect(portsOf(form, 'sekisho-broker-egress')).not.toContain('"port":5443')
  })

  test('the settings name who installed it', () => {
    const { metadata, data } = object(form, 'ConfigMap', 'sekisho-settings')
    expect(metadata.annotations).toEqual({ [installerAnnotation]: 'f00d' })
    expect(data).toMatchObject({
      SEKISHO_PUBLIC_URL: 'https://sekisho.example.com',
      SEKISHO_REGISTRY: 'registry.example.com:5443/team/apps',
      SEKISHO_REGISTRY_PLATFORM_PATHS: 'team/cnb,team/kpack',
      SEKISHO_APPLICATION_EGRESS: '10.0.0.9/32:4000',
      SEKISHO_ADMISSION_AUTHORITY_CERTIFICATE_FILE: '/etc/sekisho/secrets/admission-authority.crt',
      SEKISHO_ADMISSION_AUTHORITY_KEY_FILE: '/etc/sekisho/secrets/admission-authority.key',
    })
  })

  test('the rights that the user is asked for cover everything that is applied', () => {
    const covered = new Set(
      neededRights.filter(({ verb }) => verb === 'patch').map(({ group, resource }) => `${group}/${resource}`),
    )
    const objects = [...(rendered[form] ?? []), ...(rendered['migration'] ?? [])]
    for (const { apiVersion, kind } of objects) expect(covered).toContain(resourceOf(apiVersion, kind))
  })
})

const isEmpty = (list: unknown): boolean => Array.isArray(list) && list.length === 0

/** API group and resource of a kind. */
function resourceOf(apiVersion: string, kind: string): string {
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
  const singular = kind.toLowerCase()
  return `${group}/${singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`}`
}

test('the embedded database is on the storage class, and the migration reaches PostgreSQL', () => {
  expect(object('standalone', 'PersistentVolumeClaim', 'sekisho-data').spec?.['storageClassName']).toBe('fast')
  expect(portsOf('migration', 'sekisho-migrate')).toContain('"port":6432')
  expect(JSON.stringify(object('migration', 'Job', 'sekisho-migrate').spec)).toContain('"imagePullSecrets":[{"name":"pull"}]')
})
