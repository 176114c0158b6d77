// `make up` on a cluster of the user's: reads, decides, and only when nothing is missing writes what the plan says.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Environment, processEnvironment } from '../../../src/lib/config.ts'
import { AppError } from '../../../src/lib/errors.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { catalog } from '../../cluster/binaries/catalog.ts'
import { ensureBinary } from '../../cluster/binaries/ensure-binary.ts'
import { devProcessFolders } from '../../cluster/node/layout.ts'
import { stopProcess } from '../../cluster/processes/supervise.ts'
import type { Progress } from '../../cluster/progress.ts'
import { type ClusterSettings, givenState } from '../../cluster/settings.ts'
import { ensureGitHub, type LocalGitHub } from '../github.ts'
import { createKubectl, type Kubectl } from '../kubectl.ts'
import type { Mode } from '../mode.ts'
import { givenOverlay } from '../overlay/given.ts'
import { restartPatch, writeKustomization } from '../overlay/overlay.ts'
import { migrateDatabase } from '../rollout/migration.ts'
import { removeStale } from '../rollout/remove-stale.ts'
import { type AdmissionCertificate, admissionCertificate } from '../secrets/admission-certificate.ts'
import { givenDatabase } from '../secrets/database-access.ts'
import { admissionAuthorityFiles, applyProductionSecrets, applyStandaloneSecrets } from '../secrets/platform-secrets.ts'
import {
  applyFoundations,
  applyGitHubApp,
  bindPlatformAdmin,
  buildPlatformImage,
  issuerAnswers,
  rolledOut,
  runTool,
} from '../steps.ts'
import { type GivenAuthorities, issueCertificates, openGivenAuthorities } from './certificates.ts'
import { decide } from './decision/decide.ts'
import type { Plan } from './decision/plan.ts'
import { gather } from './gather.ts'
import { givenPodSettings } from './pod-settings.ts'
import { readGivenClusterSettings } from './settings.ts'
import { checksText, missingText, planText } from './text.ts'

type Options = {
  readonly settings: ClusterSettings
  readonly kubeconfig: string
  readonly progress: Progress
  readonly asked: Mode | undefined
  readonly dryRun: boolean
}

type Context = {
  readonly settings: ClusterSettings
  readonly progress: Progress
  readonly kubectl: Kubectl
  readonly plan: Plan
  readonly authorities: GivenAuthorities
}

/**
 * Resolves to what the user should know then. Rejects with everything that is missing before it writes anything to the cluster.
 */
export async function givenClusterUp({ settings, kubeconfig, progress, asked, dryRun }: Options): Promise<string> {
  const environment = processEnvironment()
  const given = readGivenClusterSettings(environment)
  const kubernetes = await ensureBinary(catalog.kubernetes, { settings, progress })
  const kubectl = createKubectl(kubernetes.path('kubectl'), kubeconfig, signInEnvironment(environment))
  const authorities = await openGivenAuthorities(settings)
  const facts = await progress.step('read the cluster', () => gather(kubectl, given, authorities))
  const { missing, plan } = decide(facts, given, asked)
  if (plan === undefined) throw new AppError('invalid_configuration', missingText(missing))
  const text = `${planText(plan, facts)}${checksText(plan, facts, authorities.own.files.certificate)}`
  if (dryRun) return text
  await install({ settings, progress, kubectl, plan, authorities })
  return text
}

/** Stops the emulator. The cluster and the certificates stay as they are. */
export async function givenClusterDown(settings: ClusterSettings): Promise<void> {
  await stopProcess('github', devProcessFolders(givenState(settings)))
}

/**
 * A kubeconfig may name a program that signs in and reads variables of its own. Our settings, some of which are secret, do not
 * concern it.
 */
function signInEnvironment(environment: Environment): Readonly<Record<string, string>> {
  const passed = Object.entries(environment).filter(([name, value]) => value !== undefined && !name.startsWith('SEKISHO_'))
  return Object.fromEntries(passed) as Record<string, string>
}

async function install(context: Context): Promise<void> {
  const { settings, progress, kubectl, plan, authorities } = context
  const github = plan.github.kind === 'emulator' ? await emulator(context, plan.github.address) : undefined
  await progress.step('custom resource definitions and namespace', () => applyFoundations(kubectl, settings))
  const image = await progress.step('platform image', () => buildPlatformImage(settings))
  await applyPlatform(context, image, github)
  const app = plan.github.kind === 'emulator' ? 'github' : plan.github.name
  await progress.step('platform ready', () => rolledOut(kubectl, plan.mode, app))
  await noteIssuer(progress, plan, authorities)
  if (plan.builder.make) await progress.step('builder', () => runTool(settings, ['dev/kpack/main.ts', 'builder']))
}

/** Writes the Secrets and the manifests of the form. Secrets and certificates that are there and serve stay as they are. */
export async function applyPlatform(context: Context, image: string, github: LocalGitHub | undefined): Promise<void> {
  const { progress, kubectl, plan } = context
  const admission = await admissionCertificate(kubectl, plan.mode, new Date())
  const overlay = await writeOverlay(context, image, admission)
  await applySecrets(context, github, admission)
  if (plan.mode === 'production') await progress.step('database schema', () => migrateDatabase(kubectl, overlay, image))
  await progress.step(`platform manifests (${plan.mode})`, async () => {
    if (github !== undefined) await applyGitHubApp(kubectl, github)
    await kubectl.applyFolder(overlay)
    for (const stale of await removeStale(kubectl, overlay)) progress.note(`deleted, because this version has none: ${stale}`)
    if (github !== undefined) await bindPlatformAdmin(kubectl)
  })
}

function emulator({ settings, progress, plan }: Context, address: string): Promise<LocalGitHub> {
  return ensureGitHub({ ...givenState(settings), nodeAddress: address, issuerUrl: plan.broker.url.origin }, progress)
}

/** Resolves to the folder to apply. */
async function writeOverlay(
  { settings, plan, authorities }: Context,
  image: string,
  { authority, trusted }: AdmissionCertificate,
): Promise<string> {
  const folder = join(givenState(settings).stateFolder, 'deploy')
  await rm(folder, { recursive: true, force: true })
  const environment = givenPodSettings(plan)
  const { main, migration } = givenOverlay({
    plan,
    environment,
    fingerprint: authorities.fingerprint,
    admissionAuthorities: trusted,
  })
  // The controllers read their authority at their start only.
  const read = { ...environment, [admissionAuthorityFiles.certificate]: authority.certificate }
  const part = { ...main, patches: [...main.patches, restartPatch(read)] }
  const base = join(settings.repository, 'deploy', plan.mode)
  await writeKustomization({ folder, base, image, part })
  if (plan.mode === 'production')
    await writeKustomization({ folder: join(folder, 'migration'), base: join(base, 'migration'), image, part: migration })
  return folder
}

async function applySecrets(
  { progress, kubectl, plan, authorities }: Context,
  local: LocalGitHub | undefined,
  { authority, serving }: AdmissionCertificate,
): Promise<void> {
  const certificates = await issueCertificates(authorities, plan.broker, plan.registry.realm)
  const values = { ...certificates, admission: serving, admissionAuthority: authority, ...gitHubSecrets(plan, local) }
  await progress.step('platform secrets', async () =>
    plan.database === null
      ? applyStandaloneSecrets(kubectl, values)
      : applyProductionSecrets(kubectl, values, await givenDatabase(kubectl, plan.database)),
  )
}

function gitHubSecrets({ github }: Plan, local: LocalGitHub | undefined) {
  if (github.kind === 'app') return { clientSecret: github.clientSecret, webhookSecret: github.webhookSecret }
  if (local === undefined) throw new Error('the emulator was not started')
  return { clientSecret: local.clientSecret, webhookSecret: local.webhookSecret, appPrivateKey: local.privateKey }
}

/** Whether the public URL leads to the broker already is the business of DNS and load balancers, which may take their time. */
async function noteIssuer(progress: Progress, { broker }: Plan, authorities: GivenAuthorities): Promise<void> {
  const authority = broker.certificate === null ? authorities.own.pem : undefined
  const answers = (): Promise<true | undefined> => issuerAnswers(broker.url.origin, authority)
  await waitUntil('an answer of the broker', answers).then(
    () => progress.note(`the broker answers at ${broker.url.origin}`),
    () => progress.note(`the broker does not answer at ${broker.url.origin} from here yet: see what is to check below`),
  )
}
