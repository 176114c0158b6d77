// Installs kpack and, in a second step, the builder `sekisho` in a cluster, unless they exist. In between the platform starts:
// it finds kpack's kinds, and makes the registry credential that the builder needs. Idempotent: the same inputs are applied
// once. It must never change a kpack that it did not install.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../src/lib/errors.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import type { Progress } from '../cluster/progress.ts'
import { type BuilderImages, builderName, builderObjects, credentialName, platformNamespace } from './builder-objects.ts'
import { decideOwner, hasInputs, inputsAnnotation, isApplied, isAvailable } from './installation-decision.ts'
import type { Kubectl } from './kubectl.ts'
import type { KubernetesObject } from './kubernetes-object.ts'
import { kpackNetworkPolicies, type NodeEndpoints } from './network-policies.ts'
import { renderRelease } from './render-release.ts'

export type InstallInputs = {
  /** kpack's own `config` folder. */
  readonly releaseFolder: string
  readonly version: string
  readonly kpackImage: string
  /**
   * Where kpack's pods find the API server; absent when it is not known, as on a cluster of the user's own: then they get no
   * policies.
   */
  readonly node?: NodeEndpoints
}

export type BuilderInputs = { readonly images: BuilderImages; readonly registry: string }

export type InstallResult = { readonly kpack: 'installed' | 'unchanged' | 'foreign' }
export type BuilderResult = { readonly builder: 'applied' | 'unchanged'; readonly builderImage: string }

const namespace = 'kpack'
const readyTimeoutSeconds = 180
const builderReference = `clusterbuilder.kpack.io/${builderName}`

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32)
}

/** kpack itself, until its servers answer. */
export async function installKpack(inputs: InstallInputs, kubectl: Kubectl, progress: Progress): Promise<InstallResult> {
  const rendered = renderRelease(await readRelease(inputs.releaseFolder), { image: inputs.kpackImage, version: inputs.version })
  const release = inputs.node === undefined ? rendered : [...rendered, ...kpackNetworkPolicies(inputs.node)]
  const digest = digestOf(release)
  const servers = await kubectl.read(['deployment.apps/kpack-controller', 'deployment.apps/kpack-webhook'], namespace)
  // The controller is the last object that is applied: it carries the digest of all of them.
  if (servers.length === 2 && servers.every(isAvailable) && servers.some(server => hasInputs(server, digest)))
    return { kpack: 'unchanged' }
  if (decideOwner((await kubectl.read(['customresourcedefinition/builds.kpack.io']))[0]) === 'foreign') {
    progress.note('this kpack was not installed by make up: it stays as it is')
    return { kpack: 'foreign' }
  }
  await progress.step(`kpack ${inputs.version}`, () => applyRelease(release, digest, kubectl))
  return { kpack: 'installed' }
}

async function applyRelease(release: readonly KubernetesObject[], digest: string, kubectl: Kubectl): Promise<void> {
  const isNamespace = (object: KubernetesObject): boolean => object.kind === 'Namespace'
  const isController = ({ kind, metadata }: KubernetesObject): boolean =>
    kind === 'Deployment' && metadata.name === 'kpack-controller'
  await kubectl.apply(release.filter(isNamespace))
  await kubectl.apply(release.filter(object => !isNamespace(object) && !isController(object)))
  await kubectl.apply(release.filter(isController).map(controller => withInputs(controller, digest)))
  // kpack's webhook converts between versions of its objects: it must answer before any of them can be stored.
  await kubectl.run(['rollout', 'status', 'deployment', '-n', namespace, '--timeout', `${readyTimeoutSeconds}s`])
}

function withInputs(object: KubernetesObject, digest: string): KubernetesObject {
  const annotations = { ...object.metadata.annotations, [inputsAnnotation]: digest }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

/** The builder and what it is made of, until builds can run. The platform must be running. */
export async function installBuilder(inputs: BuilderInputs, kubectl: Kubectl, progress: Progress): Promise<BuilderResult> {
  const digest = digestOf(builderObjects(inputs.images, inputs.registry, ''))
  const [present] = await kubectl.read([builderReference])
  if (isApplied(present, digest)) return { builder: 'unchanged', builderImage: latestImage(present) }
  const builder = await progress.step(`builder ${builderName}`, () => applyBuilder(inputs, digest, kubectl))
  return { builder: 'applied', builderImage: latestImage(builder) }
}

async function applyBuilder(inputs: BuilderInputs, digest: string, kubectl: Kubectl): Promise<KubernetesObject | undefined> {
  const { foundation, builder } = builderObjects(inputs.images, inputs.registry, digest)
  await waitUntil(
    `Secret ${credentialName} of the platform`,
    async () => (await kubectl.read([`secret/${credentialName}`], platformNamespace))[0],
    { timeoutMilliseconds: readyTimeoutSeconds * 1000, everyMilliseconds: 500 },
  )
  await kubectl.apply(foundation)
  const names = foundation
    .filter(object => object.apiVersion.startsWith('kpack.io/'))
    .map(object => `${object.kind.toLowerCase()}.kpack.io/${object.metadata.name}`)
  await kubectl.waitReady(names, readyTimeoutSeconds)
  await kubectl.apply([withInputs(builder, digest)])
  return (await kubectl.waitReady([builderReference], readyTimeoutSeconds))[0]
}

async function readRelease(folder: string): Promise<ReadonlyMap<string, string>> {
  const files = (await readdir(folder)).filter(name => name.endsWith('.yaml'))
  return new Map(await Promise.all(files.map(async name => [name, await readFile(join(folder, name), 'utf8')] as const)))
}

function latestImage(builder: KubernetesObject | undefined): string {
  const status = builder?.['status'] as { readonly latestImage?: string } | undefined
  if (!status?.latestImage)
    throw new AppError(
      'upstream_failed',
      `${builderReference} is ready but names no image: run kubectl describe ${builderReference}`,
    )
  return status.latestImage
}
