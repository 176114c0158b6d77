// Brings the platform up on the local cluster, in one of its two forms: cluster, GitHub, kpack and image, database, secrets,
// manifests. Each step first checks what exists.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../src/lib/errors.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { catalog } from '../cluster/binaries/catalog.ts'
import { ensureBuildPrograms } from '../cluster/binaries/ensure-all.ts'
import { ensureBinary } from '../cluster/binaries/ensure-binary.ts'
import { adminClientFor } from '../cluster/control-plane/admin-client.ts'
import type { Progress } from '../cluster/progress.ts'
import { adminKubeconfig, type ClusterSettings, devClusterFolder, tenantRegistry } from '../cluster/settings.ts'
import { up as clusterUp } from '../cluster/up.ts'
import { databaseFolder } from '../postgres/platform-server.ts'
import { tenantsServerFolder } from '../postgres/tenants-server.ts'
import { tenantsStoreFolder } from '../versitygw/tenants-store.ts'
import { ensureGitHub, githubFolder, type LocalGitHub } from './github.ts'
import { createKubectl, type Kubectl } from './kubectl.ts'
import { forgetIntent } from './layers/intent.ts'
import { forgetLayer, switchingOf } from './layers/switch.ts'
import type { Mode } from './mode.ts'
import { offerBuckets } from './offers/buckets.ts'
import { offerDatabases } from './offers/databases.ts'
import { admissionClientSettings } from './overlay/admission-trust.ts'
import { writeOverlay } from './overlay/overlay.ts'
import { migrateDatabase } from './rollout/migration.ts'
import { removeStale } from './rollout/remove-stale.ts'
import { ensureDatabase } from './secrets/database-access.ts'
import { applyProductionSecrets, applyStandaloneSecrets, type SecretValues } from './secrets/platform-secrets.ts'
import { apiServerUrl, mountedRegistryAuthority, platformSettings, registryAliases } from './settings-map.ts'
import { applyFoundations, applyGitHubApp, bindPlatformAdmin, issuerAnswers, pushedImages, rolledOut, runTool } from './steps.ts'
import { forgetHomes, formInCluster, removeFormer } from './switch-form.ts'

/** Resolves to the form that runs then: the one that was asked for, else the one that ran, else the standalone form. */
export async function platformUp(settings: ClusterSettings, progress: Progress, asked: Mode | undefined): Promise<Mode> {
  if (!settings.root)
    throw new Error(
      'pods on this machine need root: run as root, or set KUBECONFIG to a cluster of your own; "node dev/cluster/main.ts up --control-plane-only" starts a control plane without pods',
    )
  buildAhead(settings, progress)
  await clusterUp({ settings, progress, controlPlaneOnly: false })
  const kubernetes = await ensureBinary(catalog.kubernetes, { settings, progress })
  const kubectl = createKubectl(kubernetes.path('kubectl'), adminKubeconfig(settings))
  const github = await ensureGitHub(settings, progress)
  await progress.step('custom resource definitions and namespace', () => applyFoundations(kubectl, settings))
  await progress.step('kpack', () => runTool(settings, ['dev/kpack/main.ts', 'install']))
  const { sekisho: image, ...images } = await progress.step('platform images', () =>
    pushedImages(settings, ['sekisho', 'buildkit', 'phases']),
  )
  const former = await formInCluster(kubectl)
  const mode = asked ?? former ?? 'standalone'
  if (former !== undefined && former !== mode) await removeFormer({ kubectl, settings, progress }, former, mode)
  const overlay = await writeOverlay({ settings, mode, image, environment: podSettings(settings, images) })
  const secrets = await secretValues(settings, github)
  if (mode === 'standalone') {
    await progress.step('platform secrets', () => applyStandaloneSecrets(kubectl, secrets))
  } else {
    const database = await progress.step('PostgreSQL', () => ensureDatabase(kubectl, settings, progress))
    await progress.step('platform secrets', () => applyProductionSecrets(kubectl, secrets, database))
    await progress.step('database schema', () => migrateDatabase(kubectl, overlay, image))
  }
  await progress.step(`platform manifests (${mode})`, async () => {
    await applyGitHubApp(kubectl, github)
    await kubectl.applyFolder(overlay)
    for (const stale of await removeStale(kubectl, overlay)) progress.note(`deleted, because this version has none: ${stale}`)
    await bindPlatformAdmin(kubectl)
  })
  await progress.step('platform ready', () => platformReady(kubectl, settings, mode))
  await progress.step('layers', () => endLayersOff({ settings, progress }))
  await progress.step('databases for tenants', () => offerDatabases(kubectl, settings, progress))
  await progress.step('buckets for tenants', () => offerBuckets(kubectl, settings, progress))
  // kpack pulls and pushes the builder with a credential that the platform makes, and asks the platform for tokens.
  await progress.step('builder', () => runTool(settings, ['dev/kpack/main.ts', 'builder']))
  return mode
}

/**
 * Starts the builds that are needed last, so that they fill what those of Kubernetes leave of the processors while they fetch
 * modules and link. With a full cache nothing happens. A step that needs a program waits for its build; where that failed, the
 * step builds it again and reports the failure.
 */
function buildAhead(settings: ClusterSettings, progress: Progress): void {
  ensureBuildPrograms({ settings, progress }).catch((error: unknown) =>
    progress.note(`building ahead of its use failed: ${messageOf(error)}`),
  )
}

/** The ConfigMap that all pods of the platform read. */
function podSettings(
  settings: ClusterSettings,
  images: { readonly buildkit: string; readonly phases: string },
): Record<string, string> {
  const addresses = {
    issuerUrl: settings.issuerUrl,
    apiServer: { url: apiServerUrl(settings), authorityPath: '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt' },
    registry: tenantRegistry(settings),
    registryAliases: registryAliases(settings),
    ingressPort: settings.ingressPort,
    ingressTlsPort: settings.ingressTlsPort,
    sourceUrl: 'http://sekisho-source.sekisho-system.svc:8081',
    node: { address: settings.nodeAddress, podGateway: settings.podGateway },
    buildkitImage: images.buildkit,
    buildpacksImage: images.phases,
  }
  return { ...platformSettings(addresses, mountedRegistryAuthority), ...admissionClientSettings }
}

async function secretValues(settings: ClusterSettings, github: LocalGitHub): Promise<SecretValues> {
  const pki = join(devClusterFolder(settings), 'pki')
  const pair = async (name: string) => ({
    certificate: await readFile(join(pki, `${name}.crt`), 'utf8'),
    key: await readFile(join(pki, `${name}.key`), 'utf8'),
  })
  return {
    clientSecret: github.clientSecret,
    webhookSecret: github.webhookSecret,
    appPrivateKey: github.privateKey,
    broker: await pair('broker'),
    admission: await pair('admission'),
    registryAuthority: await pair('registry-authority'),
    registryTokens: await pair('registry-tokens'),
    authorizer: await pair('authorizer'),
  }
}

async function platformReady(kubectl: Kubectl, settings: ClusterSettings, mode: Mode): Promise<void> {
  await rolledOut(kubectl, mode, 'github', ['sekisho-authorizer'])
  const authority = await readFile(join(devClusterFolder(settings), 'pki/ca.crt'), 'utf8')
  await waitUntil('an answer of the broker', () => issuerAnswers(settings.issuerUrl, authority), {
    timeoutMilliseconds: limits.rollout,
  })
}

/** What `make attack --without` left off when it was killed. */
async function endLayersOff({ settings, progress }: { readonly settings: ClusterSettings; readonly progress: Progress }) {
  const admin = await adminClientFor(adminKubeconfig(settings))
  try {
    const layers = await forgetLayer(switchingOf({ settings, progress }, admin))
    for (const layer of layers) progress.note(`the layer ${layer}, which an attack left off or may have, is back`)
  } finally {
    await admin.close()
  }
}

/**
 * Deletes the state of the emulator, the databases and the demo together with the cluster: a new cluster knows none of the
 * emulator's installations.
 */
export async function forgetLocalState(settings: ClusterSettings): Promise<void> {
  await rm(githubFolder(settings), { recursive: true, force: true })
  await rm(databaseFolder(settings), { recursive: true, force: true })
  await rm(tenantsServerFolder(settings), { recursive: true, force: true })
  await rm(tenantsStoreFolder(settings), { recursive: true, force: true })
  await rm(join(settings.stateFolder, 'deploy'), { recursive: true, force: true })
  await forgetIntent(settings.stateFolder)
  await forgetHomes(settings)
}
