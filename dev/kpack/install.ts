// Installs kpack and the builder `sekisho` in a cluster, unless they exist. Idempotent: the same inputs are applied once.
// It must never change a kpack that it did not install.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../src/lib/errors.ts'
import type { Progress } from '../cluster/progress.ts'
import { type BuilderImages, builderName, builderObjects, platformNamespace } from './builder-objects.ts'
import { decideOwner, inputsAnnotation, isApplied, isAvailable } from './installation-decision.ts'
import type { Kubectl } from './kubectl.ts'
import type { KubernetesObject } from './kubernetes-object.ts'
import { kpackNetworkPolicies, type NodeEndpoints } from './network-policies.ts'
import { renderRelease } from './render-release.ts'

export type InstallInputs = {
  /** kpack's own `config` folder. */
  readonly releaseFolder: string
  readonly version: string
  readonly kpackImage: string
  readonly images: BuilderImages
  readonly registry: string
  /** Where kpack's pods find the API server; absent when it is not known, as on a cluster of the user's own: then they get no policies. */
  readonly node?: NodeEndpoints
}

export type InstallResult = { readonly kpack: 'installed' | 'unchanged' | 'foreign'; readonly builderImage: string }

const namespace = 'kpack'
const readyTimeoutSeconds = 180
const builderReference = `clusterbuilder.kpack.io/${builderName}`

export async function installKpack(inputs: InstallInputs, kubectl: Kubectl, progress: Progress): Promise<InstallResult> {
  const rendered = renderRelease(await readRelease(inputs.releaseFolder), { image: inputs.kpackImage, version: inputs.version })
  const release = inputs.node === undefined ? rendered : [...rendered, ...kpackNetworkPolicies(inputs.node)]
  const digest = createHash('sha256')
    .update(JSON.stringify([release, builderObjects(inputs.images, inputs.registry, '')]))
    .digest('hex')
    .slice(0, 32)

  const present = await kubectl.read(
    [builderReference, 'deployment.apps/kpack-controller', 'deployment.apps/kpack-webhook'],
    namespace,
  )
  const applied = present.find(object => object.kind === 'ClusterBuilder')
  const servers = present.filter(object => object.kind === 'Deployment')
  if (isApplied(applied, digest) && servers.every(isAvailable)) return { kpack: 'unchanged', builderImage: latestImage(applied) }

  const owner = decideOwner((await kubectl.read(['customresourcedefinition/builds.kpack.io']))[0])
  if (owner === 'foreign') progress.note('this kpack was not installed by make up: it stays as it is')
  else await progress.step(`kpack ${inputs.version}`, () => applyRelease(release, kubectl))
  const builder = await progress.step(`builder ${builderName}`, () => applyBuilder(inputs, digest, kubectl))
  return { kpack: owner === 'foreign' ? 'foreign' : 'installed', builderImage: latestImage(builder) }
}

async function applyRelease(release: readonly KubernetesObject[], kubectl: Kubectl): Promise<void> {
  const isNamespace = (object: KubernetesObject): boolean => object.kind === 'Namespace'
  await kubectl.apply(release.filter(isNamespace))
  await kubectl.apply(release.filter(object => !isNamespace(object)))
  // kpack's webhook converts between versions of its objects: it must answer before any of them can be stored.
  await kubectl.run(['rollout', 'status', 'deployment', '-n', namespace, '--timeout', `${readyTimeoutSeconds}s`])
}

async function applyBuilder(inputs: InstallInputs, digest: string, kubectl: Kubectl): Promise<KubernetesObject | undefined> {
  const { foundation, builder } = builderObjects(inputs.images, inputs.registry, digest)
  if ((await kubectl.read([`namespace/${platformNamespace}`])).length === 0)
    await kubectl.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: platformNamespace } }])
  await kubectl.apply(foundation)
  const names = foundation
    .filter(object => object.apiVersion.startsWith('kpack.io/'))
    .map(object => `${object.kind.toLowerCase()}.kpack.io/${object.metadata.name}`)
  await kubectl.waitReady(names, readyTimeoutSeconds)
  await kubectl.apply([{ ...builder, metadata: { ...builder.metadata, annotations: { [inputsAnnotation]: digest } } }])
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
