// `make up` on a cluster that it did not make, from the command line and on a real API server: what it finds and what it says
// is missing, that it writes nothing before it has everything, and that a second run changes nothing. The cluster is this
// file's own, because all of its objects are compared. Nothing runs pods here: images and rollouts are the business of test/e2e
// and of a hand (docs/adr/0040).

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { catalog } from '../../dev/cluster/binaries/catalog.ts'
import { ensureBinary } from '../../dev/cluster/binaries/ensure-binary.ts'
import { readKubeconfig } from '../../dev/cluster/control-plane/kubeconfig.ts'
import type { ControlPlane } from '../../dev/cluster/control-plane/start.ts'
import { removeTestCluster, startTestCluster } from '../../dev/cluster/control-plane/test-cluster.ts'
import { openAuthority } from '../../dev/cluster/pki/authority.ts'
import { silentProgress } from '../../dev/cluster/progress.ts'
import { tryCommand } from '../../dev/cluster/run-command.ts'
import { type ClusterSettings, readClusterSettings } from '../../dev/cluster/settings.ts'
import { applyPlatform } from '../../dev/up/given-cluster/bring-up.ts'
import { openGivenAuthorities } from '../../dev/up/given-cluster/certificates.ts'
import { decide } from '../../dev/up/given-cluster/decision/decide.ts'
import { gather } from '../../dev/up/given-cluster/gather.ts'
import { readGivenClusterSettings } from '../../dev/up/given-cluster/settings.ts'
import { createKubectl, type Kubectl } from '../../dev/up/kubectl.ts'
import { decideAdmission } from '../../dev/up/secrets/admission-certificate.ts'
import { secretData } from '../../dev/up/secrets/secret.ts'
import { applyFoundations } from '../../dev/up/steps.ts'
import { objectsOf } from '../fixtures/all-objects.ts'
import { kpackDefinitions } from '../fixtures/kpack-definitions.ts'

const cluster = { name: 'given-cluster' } as const
const settings = readClusterSettings()
const deps = { settings, progress: silentProgress }
const image = `registry.example.com/team/sekisho/sekisho@sha256:${'0'.repeat(64)}`
let scratch: string
let controlPlane: ControlPlane
let admin: ControlPlane['admin']
let kubectl: Kubectl
let registry: Server
/** What a user sets, without what the cluster itself says. */
let enough: Readonly<Record<string, string>>

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'given-up-'))
  controlPlane = await startTestCluster(deps, cluster)
  admin = controlPlane.admin
  const kubernetes = await ensureBinary(catalog.kubernetes, deps)
  kubectl = createKubectl(kubernetes.path('kubectl'), controlPlane.kubeconfig)
  registry = createServer((_request, answer) => void answer.end('{}'))
  await new Promise<void>(resolve => registry.listen(0, '127.0.0.1', resolve))
  const tls = await (await openAuthority(join(scratch, 'pki'), 'ca', 'of the user')).leaf('tls', {
    ...{ commonName: 'sekisho.example.com', names: ['sekisho.example.com'], usage: 'server' },
  })
  const secret = join(scratch, 'secret')
  await writeFile(secret, 's3cret')
  enough = {
    SEKISHO_UP_REGISTRY: `127.0.0.1:${(registry.address() as AddressInfo).port}/team`,
    SEKISHO_UP_REGISTRY_AUTHENTICATION: 'none',
    SEKISHO_UP_PUBLIC_URL: 'https://sekisho.example.com',
    SEKISHO_UP_EXPOSE: 'LoadBalancer',
    SEKISHO_UP_TLS_CERTIFICATE_FILE: tls.certificate,
    SEKISHO_UP_TLS_KEY_FILE: tls.key,
    SEKISHO_UP_INGRESS_FROM: 'ingress-nginx',
    SEKISHO_UP_APPLICATION_URL: 'https://apps.example.net',
    SEKISHO_UP_API_SERVER_URL: 'https://kubernetes.example.com:6443',
    SEKISHO_UP_API_SERVER_FROM: '10.0.0.5/32',
    SEKISHO_UP_GITHUB_APP: 'real',
    SEKISHO_UP_GITHUB_CLIENT_SECRET_FILE: secret,
    SEKISHO_UP_GITHUB_WEBHOOK_SECRET_FILE: secret,
  }
})
afterAll(async () => {
  registry?.close()
  await admin?.close()
  await removeTestCluster(deps, cluster)
  await rm(scratch, { recursive: true, force: true })
})

type Run = { readonly kubeconfig?: string; readonly state?: string; readonly environment?: Readonly<Record<string, string>> }

/** `make up DRY_RUN=1` as a user calls it, or `make up`, which goes as far when anything is missing. */
function up(args: readonly string[], { kubeconfig = controlPlane.kubeconfig, state = 'state', environment = {} }: Run = {}) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SEKISHO_UP_') && name !== 'MODE')
  return tryCommand(process.execPath, [join(settings.repository, 'dev/up/main.ts'), 'up', ...args], {
    environment: {
      ...(Object.fromEntries(inherited) as Record<string, string>),
      ...environment,
      KUBECONFIG: kubeconfig,
      SEKISHO_STATE: join(scratch, state),
    },
    timeoutMilliseconds: 90_000,
  })
}

/** What every object of the cluster says, but for those that the cluster's own controllers and kubelets renew all the time. */
const everything = () => objectsOf(admin, ['leases', 'events', 'nodes'])

/** Runs and compares every object before and after. */
async function unchanged<T>(work: () => Promise<T>): Promise<T> {
  const before = await everything()
  expect(before.size).toBeGreaterThan(50)
  const result = await work()
  expect(await everything()).toEqual(before)
  return result
}

describe('a cluster that lacks everything', () => {
  test('each thing is named with what to do, and nothing is changed, not even by `make up` itself', async () => {
    const { code, output, errorOutput } = await unchanged(() => up([]))
    expect([code, output]).toEqual([1, ''])
    expect(errorOutput).toContain('nothing was changed:')
    for (const [what, cure] of [
      ['a node that is ready', 'kubectl describe nodes'],
      ['kpack, which builds images', 'kubectl apply -f https://github.com/buildpacks-community/kpack/releases/download/'],
      ['the ingress class: the cluster has none', 'install an ingress controller'],
      ['the storage class: the cluster has none', 'MODE=production'],
      ['a registry that this machine', 'SEKISHO_UP_REGISTRY='],
      ['an address of the API server for other people: the kubeconfig has https://127.0.0.1:', 'SEKISHO_UP_API_SERVER_URL='],
      ['a GitHub, and one only', 'SEKISHO_UP_GITHUB_ADDRESS='],
      ['what leads from the public URL', 'SEKISHO_UP_EXPOSE='],
    ] as const)
      expect(errorOutput).toMatch(new RegExp(`- ${what}.*\\n.*${cure}`))
    expect(errorOutput).not.toContain('rights of your user')
  })

  test('a user who may do little reads which rights are missing', async () => {
    const { code, errorOutput } = await unchanged(async () => up([], { kubeconfig: await kubeconfigOfNobody() }))
    expect(code).toBe(1)
    expect(errorOutput).toMatch(/- rights to read the cluster .*\n.*customresourcedefinitions.* is forbidden/)
    expect(errorOutput).toMatch(/- rights of your user: create namespaces, patch namespaces, .*clusterroles\.rbac/)
  })
})

/** Of a ServiceAccount without any role, made before anything is compared. */
async function kubeconfigOfNobody(): Promise<string> {
  const path = '/api/v1/namespaces/default/serviceaccounts/default/token'
  const made = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } }
  const { status } = (await admin.call('POST', path, made)) as { readonly status: { readonly token: string } }
  const { server, certificateAuthority = '' } = await readKubeconfig(controlPlane.kubeconfig)
  const file = join(scratch, 'nobody')
  const authority = Buffer.from(certificateAuthority).toString('base64')
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: 'u', user: { token: status.token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  }
  await writeFile(file, JSON.stringify(config), { mode: 0o600 })
  return file
}

describe('a cluster that has everything', () => {
  beforeAll(prepareCluster)
  beforeEach(heartbeat)

  test('the plan says what was found, and the dry run changes nothing however often it runs', async () => {
    const { code, output, errorOutput } = await unchanged(() => up(['--dry-run'], { environment: enough }))
    expect(errorOutput).not.toContain('lack')
    expect(code).toBe(0)
    for (const row of [
      /cluster +https:\/\/kubernetes\.example\.com:6443, Kubernetes v1\.\d+\.\d+, 1 node$/m,
      /form +standalone$/m,
      /GitHub +ClusterGitHubApp real$/m,
      /ingress +class nginx, from ingress-nginx/,
      /storage class +fast$/m,
      /builder +ClusterBuilder sekisho, left as it is$/m,
    ])
      expect(output).toMatch(row)
    expect(output).not.toContain('s3cret')
    await heartbeat()
    expect((await unchanged(() => up(['--dry-run'], { environment: enough }))).output).toBe(output)
  })

  test('one thing that is missing is enough to write nothing', async () => {
    const environment = { ...enough, SEKISHO_UP_GITHUB_APP: 'other' }
    const { code, errorOutput } = await unchanged(() => up([], { environment }))
    expect(code).toBe(1)
    expect(errorOutput).toMatch(/lack one thing; nothing was changed:\n- the ClusterGitHubApp other\n/)
  })

  test('a second run writes what is there already: no Secret, key, certificate or authority is replaced', async () => {
    const own: ClusterSettings = { ...settings, stateFolder: join(scratch, 'state') }
    await applyFoundations(kubectl, own)
    await applied(own)
    const written = await everything()
    const secrets = await secretsOfPlatform()
    expect(Object.keys(secrets.own)).toContain('sealing-keys')
    await heartbeat()
    await applied(own)
    expect(await secretsOfPlatform()).toEqual(secrets)
    // The cluster's controllers go on to work on what depends on these.
    const theirs = /^(deployments|replicasets|pods|persistentvolumeclaims|services|endpointslices|endpoints|serviceaccounts) /
    const changed = [...(await everything())].filter(([name, said]) => !theirs.test(name) && written.get(name) !== said)
    expect(changed).toEqual([])
    expect(written.size).toBeGreaterThan(120)
  })

  test('the webhook’s certificate is of an authority that the controllers have and API servers trust', async () => {
    const { own, tls, trust } = await secretsOfPlatform()
    const authority = { certificate: own['admission-authority.crt'] ?? '', key: own['admission-authority.key'] ?? '' }
    const serving = { certificate: tls['tls.crt'] ?? '', key: tls['tls.key'] ?? '' }
    const facts = { authority, serving, trusted: trust['ca.crt'] ?? '', now: new Date() }
    expect(decideAdmission(facts)).toEqual({ keepsAuthority: true, keepsServing: true, former: [] })
    for (const kind of ['validating', 'mutating']) {
      const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/sekisho-admission`
      const { webhooks } = (await admin.call('GET', path)) as { readonly webhooks: readonly Webhook[] }
      for (const { clientConfig } of webhooks)
        expect(Buffer.from(clientConfig.caBundle, 'base64').toString()).toBe(trust['ca.crt'])
    }
  })

  test('a binding of a former version is deleted, and those of this version stay', async () => {
    const own: ClusterSettings = { ...settings, stateFolder: join(scratch, 'state') }
    const apiGroup = 'rbac.authorization.k8s.io'
    const stale = {
      apiVersion: `${apiGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'sekisho:platform', labels: { 'app.kubernetes.io/part-of': 'sekisho' } },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'sekisho:controllers' },
      subjects: [{ kind: 'ServiceAccount', name: 'sekisho', namespace: 'sekisho-system' }],
    }
    await kubectl.applyText(JSON.stringify(stale))
    await heartbeat()
    await applied(own)
    const bindings = await kubectl.run(['get', 'clusterrolebindings', '-l', 'app.kubernetes.io/part-of=sekisho', '-o', 'name'])
    expect(bindings.trim().split('\n')).toEqual(
      ['service-class-reader', ...['broker', 'controllers', 'data-services'].map(process => `standalone-${process}`)].map(
        name => `clusterrolebinding.${apiGroup}/sekisho:${name}`,
      ),
    )
  })

  test('what runs is found to be ours, and another state folder leaves it alone', async () => {
    const again = await unchanged(() => up(['--dry-run'], { environment: enough }))
    expect([again.code, again.output]).toEqual([0, expect.stringMatching(/form +standalone$/m)])
    await heartbeat()
    const other = await unchanged(() => up([], { environment: enough, state: 'other' }))
    expect(other.code).toBe(1)
    expect(other.errorOutput).toMatch(/- a platform of this checkout: .*other authorities\n.*go on with what installed it/)
  })
})

type Webhook = { readonly clientConfig: { readonly caBundle: string } }

/** Writes the platform, as `make up` does when it has the image. */
async function applied(own: ClusterSettings): Promise<void> {
  const given = readGivenClusterSettings(enough)
  const authorities = await openGivenAuthorities(own)
  const { missing, plan } = decide(await gather(kubectl, given, authorities), given, undefined)
  expect(missing).toEqual([])
  if (plan === undefined) throw new Error('there is no plan')
  await applyPlatform({ settings: own, progress: silentProgress, kubectl, plan, authorities }, image, undefined)
}

async function secretsOfPlatform() {
  return {
    own: await secretData(kubectl, 'sekisho-secrets'),
    tls: await secretData(kubectl, 'sekisho-admission-tls'),
    trust: await secretData(kubectl, 'sekisho-admission-authority'),
  }
}

/** What an administrator installs before. */
async function prepareCluster(): Promise<void> {
  for (const definition of kpackDefinitions)
    await admin.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
  await kubectl.applyFolder(join(settings.repository, 'deploy/crds'))
  await kubectl.run(['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all'], 70_000)
  await kubectl.applyText(JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'one' } }))
  const ofClass = (kind: string, group: string, name: string, more: object): object => {
    return { apiVersion: `${group}/v1`, kind, metadata: { name, ...more } }
  }
  const isDefault = { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } }
  const storage = { provisioner: 'example.com/disk' }
  for (const object of [
    { ...ofClass('IngressClass', 'networking.k8s.io', 'nginx', {}), spec: { controller: 'example.com/nginx' } },
    { apiVersion: 'kpack.io/v1alpha2', kind: 'ClusterBuilder', metadata: { name: 'sekisho' } },
    { ...ofClass('StorageClass', 'storage.k8s.io', 'slow', {}), ...storage },
    { ...ofClass('StorageClass', 'storage.k8s.io', 'fast', isDefault), ...storage },
    {
      ...ofClass('ClusterGitHubApp', 'github.sekisho.dev', 'real', {}),
      apiVersion: 'github.sekisho.dev/v1alpha1',
      spec: {
        host: 'github.com',
        appId: 1,
        clientId: 'Iv1.1',
        privateKeys: [{ secretName: 'github-app-key', key: 'private-key.pem' }],
      },
    },
  ])
    await kubectl.applyText(JSON.stringify(object))
}

/** As the kubelet of the one node: its controller gives up a node that is silent for a minute. */
async function heartbeat(): Promise<void> {
  const now = new Date().toISOString()
  const condition = { type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: now, lastTransitionTime: now }
  const nodeInfo = { architecture: process.arch === 'arm64' ? 'arm64' : 'amd64' }
  const status = { conditions: [condition], nodeInfo: { ...nodeInfoOfNobody, ...nodeInfo } }
  await admin.call('PATCH', '/api/v1/nodes/one/status', { status }, 'application/merge-patch+json')
}

const nodeInfoOfNobody = Object.fromEntries(
  ['machineID', 'systemUUID', 'bootID', 'kernelVersion', 'osImage', 'containerRuntimeVersion', 'kubeletVersion']
    .concat(['kubeProxyVersion', 'operatingSystem'])
    .map(name => [name, '']),
)
