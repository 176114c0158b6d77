// `make dev`: the standalone form as a process of this host in watch mode, against the running cluster, under the same
// addresses and the same identity. While it runs, the Deployment has no pod and the Services point at this host; when it ends
// (Ctrl-C), both are restored.
import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { catalog } from '../cluster/binaries/catalog.ts'
import { ensureBinary } from '../cluster/binaries/ensure-binary.ts'
import type { Progress } from '../cluster/progress.ts'
import { runCommand } from '../cluster/run-command.ts'
import { adminKubeconfig, type ClusterSettings, devClusterFolder, tenantRegistry, toolEnvironment } from '../cluster/settings.ts'
import { createKubectl, type Kubectl } from './kubectl.ts'
import { dataFolder, podUser } from './overlay/standalone.ts'
import { platformSelector } from './platform-pods.ts'
import { secretData } from './secrets/secret.ts'
import { apiServerUrl, platformSettings, registryAliases } from './settings-map.ts'
import { pushedImages } from './steps.ts'

const namespace = 'sekisho-system'

/** Service, the component behind it, its port name, the port of the process on this host, and the setting that chooses it. */
const services = [
  { service: 'sekisho-broker', part: 'broker', name: 'https', port: 18_443, setting: 'SEKISHO_BROKER_PORT' },
  { service: 'sekisho-token-desk', part: 'controllers', name: 'https', port: 18_444, setting: 'SEKISHO_TOKEN_DESK_PORT' },
  { service: 'sekisho-git-proxy', part: 'controllers', name: 'https', port: 18_448, setting: 'SEKISHO_GIT_PROXY_PORT' },
  {
    service: 'sekisho-registry-tokens',
    part: 'controllers',
    name: 'https',
    port: 18_445,
    setting: 'SEKISHO_REGISTRY_TOKEN_PORT',
  },
  { service: 'sekisho-admission', part: 'admission', name: 'https', port: 19_443, setting: 'SEKISHO_ADMISSION_PORT' },
] as const
/** The process writes the endpoint of this Service by itself. */
const sourcePort = 18_081

/** Where pods of tenants find the process on this host. */
function portOf(setting: (typeof services)[number]['setting']): number {
  const found = services.find(service => service.setting === setting)
  if (found === undefined) throw new Error(`no Service has the setting ${setting}`)
  return found.port
}

export async function runDevelopment(settings: ClusterSettings, progress: Progress): Promise<number> {
  const kubernetes = await ensureBinary(catalog.kubernetes, { settings, progress })
  const kubectl = createKubectl(kubernetes.path('kubectl'), adminKubeconfig(settings))
  if ((await kubectl.read(['deployment', 'sekisho', '-n', namespace])) === undefined)
    throw new Error('the standalone form is not installed: run make up MODE=standalone first')
  const folder = join(settings.stateFolder, 'development')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const environment = await processEnvironment(kubectl, settings, folder)
  await progress.step('stop the platform pod and point its Services at this host', async () => {
    await kubectl.run(['scale', 'deployment/sekisho', '-n', namespace, '--replicas=0'])
    await kubectl.run(['wait', '--for=delete', 'pod', '-l', platformSelector(), '-n', namespace, '--timeout=60s'], 70_000)
    for (const item of services) await pointHere(kubectl, settings, item)
  })
  progress.note(`serving at ${settings.issuerUrl}; a change under src restarts it; Ctrl-C stops it and restores the pod`)
  try {
    return await watchProcess(settings, environment)
  } finally {
    await progress.step('restore the platform pod', async () => {
      // The files of this process belong to the user who ran it; the pod runs as its own user and must be able to write them.
      await runCommand('chown', ['-R', `${podUser}:${podUser}`, dataFolder(settings)])
      await restorePod(kubectl)
    })
  }
}

async function processEnvironment(kubectl: Kubectl, settings: ClusterSettings, folder: string): Promise<Record<string, string>> {
  const secrets = await secretData(kubectl, 'sekisho-secrets')
  const files = Object.entries(secrets).map(([name, value]) => writeFile(join(folder, name), value, { mode: 0o600 }))
  await Promise.all(files)
  const pki = join(devClusterFolder(settings), 'pki')
  const kubeconfig = join(folder, 'kubeconfig')
  const images = await pushedImages(settings, ['buildkit', 'phases'])
  const token = await kubectl.run(['create', 'token', 'sekisho', '-n', namespace, '--duration=12h'])
  await writeFile(kubeconfig, kubeconfigWith(settings, join(pki, 'ca.crt'), token.trim()), { mode: 0o600 })
  const addresses = {
    issuerUrl: settings.issuerUrl,
    apiServer: { url: apiServerUrl(settings), authorityPath: join(pki, 'ca.crt') },
    registry: tenantRegistry(settings),
    registryAliases: registryAliases(settings),
    ingressPort: settings.ingressPort,
    ingressTlsPort: settings.ingressTlsPort,
    sourceUrl: 'http://sekisho-source.sekisho-system.svc:8081',
    buildkitImage: images.buildkit,
    buildpacksImage: images.phases,
    node: { address: settings.nodeAddress, podGateway: settings.podGateway },
    nodePorts: { applications: [portOf('SEKISHO_TOKEN_DESK_PORT'), portOf('SEKISHO_GIT_PROXY_PORT')], builds: [sourcePort] },
  }
  return {
    ...toolEnvironment(),
    ...platformSettings(addresses, join(folder, 'registry-authority')),
    SEKISHO_GITHUB_CLIENT_SECRET_FILE: join(folder, 'github-client-secret'),
    SEKISHO_GITHUB_WEBHOOK_SECRET_FILE: join(folder, 'github-webhook-secret'),
    SEKISHO_SEALING_KEYS_FILE: join(folder, 'sealing-keys'),
    SEKISHO_REGISTRY_TOKEN_CERTIFICATE_PATH: join(pki, 'registry-tokens.crt'),
    SEKISHO_REGISTRY_TOKEN_KEY_PATH: join(pki, 'registry-tokens.key'),
    SEKISHO_TLS_CERTIFICATE_PATH: join(pki, 'broker.crt'),
    SEKISHO_TLS_KEY_PATH: join(pki, 'broker.key'),
    SEKISHO_ADMISSION_CERTIFICATE_PATH: join(pki, 'admission.crt'),
    SEKISHO_ADMISSION_KEY_PATH: join(pki, 'admission.key'),
    SEKISHO_ADMISSION_CLIENT_CA_PATH: join(pki, 'admission-client-ca.crt'),
    SEKISHO_DATA_FOLDER: dataFolder(settings),
    SEKISHO_HEALTH_PORT: '18090',
    SEKISHO_LOG_LEVEL: 'debug',
    KUBECONFIG: kubeconfig,
    SEKISHO_POD_ADDRESS: settings.nodeAddress,
    SEKISHO_SOURCE_PORT: String(sourcePort),
    ...Object.fromEntries(services.map(({ setting, port }) => [setting, String(port)])),
  }
}

function kubeconfigWith(settings: ClusterSettings, authorityFile: string, token: string): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'local',
        cluster: { server: `https://127.0.0.1:${settings.ports.apiServer}`, 'certificate-authority': authorityFile },
      },
    ],
    users: [{ name: 'sekisho', user: { token } }],
    contexts: [{ name: 'local', context: { cluster: 'local', user: 'sekisho', namespace } }],
    'current-context': 'local',
  })
}

/** Replaces the endpoints of a Service: without a selector it uses the EndpointSlices that carry its name. */
async function pointHere(kubectl: Kubectl, settings: ClusterSettings, item: (typeof services)[number]): Promise<void> {
  await kubectl.run(['patch', 'service', item.service, '-n', namespace, '--type=merge', '-p', '{"spec":{"selector":null}}'])
  await kubectl.applyText(
    stringify({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: `${item.service}-development`, namespace, labels: { 'kubernetes.io/service-name': item.service } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [settings.nodeAddress], conditions: { ready: true } }],
      ports: [{ name: item.name, port: item.port, protocol: 'TCP' }],
    }),
  )
}

async function restorePod(kubectl: Kubectl): Promise<void> {
  for (const { service, part } of services) {
    await kubectl.run(['delete', 'endpointslice', `${service}-development`, '-n', namespace, '--ignore-not-found'])
    const [label = '', value] = platformSelector(part).split('=')
    const patch = JSON.stringify({ spec: { selector: { [label]: value } } })
    await kubectl.run(['patch', 'service', service, '-n', namespace, '--type=merge', '-p', patch])
  }
  await kubectl.run(['scale', 'deployment/sekisho', '-n', namespace, '--replicas=1'])
}

/** Resolves to the exit code of the process, which receives SIGINT and SIGTERM and completes its requests first. */
function watchProcess(settings: ClusterSettings, environment: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--watch', '--watch-preserve-output', 'src/standalone.ts'], {
      cwd: settings.repository,
      env: environment,
      stdio: 'inherit',
    })
    const pass = (signal: NodeJS.Signals): void => void child.kill(signal)
    process.on('SIGINT', pass)
    process.on('SIGTERM', pass)
    child.on('error', reject)
    child.on('close', code => {
      process.off('SIGINT', pass)
      process.off('SIGTERM', pass)
      resolve(code ?? 0)
    })
  })
}
