// Brings the platform up on the local cluster: cluster, GitHub, kpack and image, secrets, manifests. Each step first checks what exists.
import { spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { catalog } from '../cluster/binaries/catalog.ts'
import { ensureBinary } from '../cluster/binaries/ensure-binary.ts'
import type { Progress } from '../cluster/progress.ts'
import { adminKubeconfig, type ClusterSettings, devClusterFolder, tenantRegistry } from '../cluster/settings.ts'
import { up as clusterUp } from '../cluster/up.ts'
import { waitUntil } from '../cluster/wait-until.ts'
import { ensureGitHub, githubFolder, githubHost, type LocalGitHub } from './github.ts'
import { createKubectl, type Kubectl } from './kubectl.ts'
import { writeOverlay } from './overlay.ts'
import { applyPlatformSecrets } from './platform-secrets.ts'
import { apiServerUrl, platformAdmin, platformSettings, registryAliases } from './settings-map.ts'

const podFolders = { secrets: '/etc/sekisho/secrets', tls: '/etc/sekisho/tls' }

export async function platformUp(settings: ClusterSettings, progress: Progress): Promise<void> {
  if (!settings.root && settings.givenKubeconfig === undefined)
    throw new Error(
      'pods on this machine need root: run as root, or set KUBECONFIG to a cluster of your own; "node dev/cluster/main.ts up --control-plane-only" starts a control plane without pods',
    )
  await clusterUp({ settings, progress, controlPlaneOnly: false })
  const kubernetes = await ensureBinary(catalog.kubernetes, { settings, progress })
  const kubectl = createKubectl(kubernetes.path('kubectl'), adminKubeconfig(settings))
  const github = await ensureGitHub(settings, progress)
  await progress.step('custom resource definitions and namespace', () => applyFoundations(kubectl, settings))
  await progress.step('kpack', () => node(settings, ['dev/kpack/main.ts', 'install']))
  const image = await progress.step('platform image', () => buildPlatformImage(settings))
  await progress.step('platform secrets and App', () => applySecretsAndApp(kubectl, settings, github))
  await progress.step('platform manifests', async () => {
    const addresses = {
      issuerUrl: settings.issuerUrl,
      apiServer: { url: apiServerUrl(settings), authorityPath: '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt' },
      registry: tenantRegistry(settings),
      registryAliases: registryAliases(settings),
      ingressPort: settings.ingressPort,
      sourceUrl: 'http://sekisho-source.sekisho-system.svc:8081',
      node: { address: settings.nodeAddress, podGateway: settings.podGateway },
    }
    await kubectl.applyFolder(await writeOverlay({ settings, image, environment: platformSettings(addresses, podFolders) }))
    await bindPlatformAdmin(kubectl)
  })
  await progress.step('platform ready', () => platformReady(kubectl, settings))
  // kpack pulls and pushes the builder with a credential that the platform makes, and asks the platform for tokens.
  await progress.step('builder', () => node(settings, ['dev/kpack/main.ts', 'builder']))
}

/** Runs a step that has its own command line in its own process; its progress is shown at once, its standard output is the result. */
function node(settings: ClusterSettings, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: settings.repository, stdio: ['ignore', 'pipe', 'inherit'] })
    const output: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
    child.on('error', reject)
    child.on('close', code => {
      if (code === 0) resolve(Buffer.concat(output).toString().trim())
      else reject(new Error(`${args[0]} failed with exit code ${code}; see its output above`))
    })
  })
}

async function applyFoundations(kubectl: Kubectl, settings: ClusterSettings): Promise<void> {
  await kubectl.applyFolder(join(settings.repository, 'deploy/crds'))
  await kubectl.run(
    ['wait', '--for=condition=Established', '--timeout=60s', 'crd', '-l', 'app.kubernetes.io/part-of=sekisho'],
    70_000,
  )
  await kubectl.applyText(await readFile(join(settings.repository, 'deploy/base/namespace.yaml'), 'utf8'))
}

/** The reference by digest: a changed image changes the Deployment, which replaces the pod. */
async function buildPlatformImage(settings: ClusterSettings): Promise<string> {
  const answer = JSON.parse(await node(settings, ['dev/images/main.ts', 'build', 'sekisho', '--push', '-o', 'json'])) as {
    pinned: string
  }[]
  const pinned = answer[0]?.pinned
  if (pinned === undefined) throw new Error('the image builder printed no reference')
  return pinned
}

async function applySecretsAndApp(kubectl: Kubectl, settings: ClusterSettings, github: LocalGitHub): Promise<void> {
  const pki = join(devClusterFolder(settings), 'pki')
  const pair = async (name: string) => ({
    certificate: await readFile(join(pki, `${name}.crt`), 'utf8'),
    key: await readFile(join(pki, `${name}.key`), 'utf8'),
  })
  const broker = await pair('broker')
  await applyPlatformSecrets(kubectl, {
    clientSecret: github.clientSecret,
    webhookSecret: github.webhookSecret,
    appPrivateKey: github.privateKey,
    brokerCertificate: broker.certificate,
    brokerKey: broker.key,
    registryAuthority: await pair('registry-authority'),
    registryTokens: await pair('registry-tokens'),
  })
  await kubectl.applyText(
    stringify({
      apiVersion: 'github.sekisho.dev/v1alpha1',
      kind: 'ClusterGitHubApp',
      metadata: { name: 'github' },
      spec: {
        host: githubHost,
        endpoints: { web: github.web, api: github.api, insecure: true },
        appId: github.appId,
        clientId: github.clientId,
        privateKeys: [{ secretName: 'github-app-key', key: 'private-key.pem' }],
      },
    }),
  )
}

/** Makes the user an admin exactly as docs/guide/install.md says. */
async function bindPlatformAdmin(kubectl: Kubectl): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io'
  await kubectl.applyText(
    stringify({
      apiVersion: `${apiGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'sekisho:platform-admin' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'sekisho:platform-admin' },
      subjects: [{ apiGroup, kind: 'User', name: platformAdmin.subject }],
    }),
  )
}

async function platformReady(kubectl: Kubectl, settings: ClusterSettings): Promise<void> {
  await kubectl.run(['rollout', 'status', 'deployment/sekisho', '-n', 'sekisho-system', '--timeout=180s'], 190_000)
  await kubectl.run(['wait', '--for=condition=Ready', 'clustergithubapp/github', 'applicationchart/web', '--timeout=60s'], 70_000)
  const authority = await readFile(join(devClusterFolder(settings), 'pki/ca.crt'), 'utf8')
  await waitUntil('an answer of the broker', () => issuerAnswers(settings.issuerUrl, authority), { timeoutMilliseconds: 60_000 })
}

async function issuerAnswers(issuerUrl: string, authority: string): Promise<true | undefined> {
  const { Agent, request } = await import('undici')
  const agent = new Agent({ connect: { ca: authority, timeout: 3000 } })
  try {
    const answer = await request(`${issuerUrl}/.well-known/openid-configuration`, { dispatcher: agent })
    await answer.body.dump()
    return answer.statusCode === 200 ? true : undefined
  } finally {
    await agent.close()
  }
}

/** Deletes the state of the emulator and the demo together with the cluster: a new cluster knows none of the emulator's installations. */
export async function forgetLocalState(settings: ClusterSettings): Promise<void> {
  await rm(githubFolder(settings), { recursive: true, force: true })
  await rm(join(settings.stateFolder, 'deploy'), { recursive: true, force: true })
  // The homes of the users hold logins and verified heads of the audit log, which another platform's log would contradict.
  for (const homes of ['demo', 'attack', 'e2e']) await rm(join(settings.stateFolder, homes), { recursive: true, force: true })
}
