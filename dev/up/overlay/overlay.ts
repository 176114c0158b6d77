// The development overlay of deploy/standalone or deploy/production, written into the state folder: image, settings, addresses,
// and what the form needs of this machine. A real cluster has its own overlay of the same form: docs/guide/install.md.
import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { stringify } from 'yaml'
import type { ClusterSettings } from '../../cluster/settings.ts'
import { type Mode, platformNamespace } from '../mode.ts'
import { admissionTrust } from './admission-trust.ts'
import { authorizerPart } from './authorizer.ts'
import { networkPatches } from './network.ts'
import { type OverlayPart, patchOf } from './part.ts'
import { migrationPart } from './production.ts'
import { standalonePart } from './standalone.ts'

type OverlayOptions = {
  readonly settings: ClusterSettings
  readonly mode: Mode
  /** The image with its digest. */
  readonly image: string
  readonly environment: Readonly<Record<string, string>>
}

/**
 * Resolves to the folder to apply. In production the folder `migration` below it comes first: the Job, and the way to the
 * database.
 */
export async function writeOverlay({ settings, mode, image, environment }: OverlayOptions): Promise<string> {
  const folder = join(settings.stateFolder, 'deploy')
  await rm(folder, { recursive: true, force: true })
  const trust = await admissionTrust(settings)
  const authorizer = await authorizerPart(settings)
  const part = mode === 'standalone' ? await standalonePart(settings) : { objects: {}, patches: [] }
  const settingsMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'sekisho-settings', namespace: platformNamespace },
    data: environment,
  }
  await writeKustomization({
    folder,
    image,
    base: join(settings.repository, 'deploy', mode),
    beside: [join(settings.repository, 'deploy/authorizer')],
    part: {
      objects: { settings: settingsMap, ...trust.objects, ...authorizer.objects, ...part.objects },
      patches: [
        ...sharedPatches(settings),
        ...networkPatches(settings, mode),
        restartPatch(environment),
        ...authorizer.patches,
        ...part.patches,
      ],
      replacements: trust.replacements ?? [],
    },
  })
  if (mode === 'production')
    await writeKustomization({
      folder: join(folder, 'migration'),
      image,
      base: join(settings.repository, 'deploy/production/migration'),
      part: migrationPart(settings),
    })
  return folder
}

export type Kustomization = {
  readonly folder: string
  readonly base: string
  /** Other folders of manifests. */
  readonly beside?: readonly string[]
  readonly image: string
  readonly part: OverlayPart
}

/** Replaces the files of the folder that have the same names. */
export async function writeKustomization({ folder, base, beside = [], image, part }: Kustomization): Promise<void> {
  await mkdir(folder, { recursive: true })
  const write = (name: string, object: object): Promise<void> => writeFile(join(folder, `${name}.yaml`), stringify(object))
  const [newName, digest] = image.split('@')
  for (const [name, object] of Object.entries(part.objects)) await write(name, object)
  await write('kustomization', {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [
      ...[base, ...beside].map(path => relative(folder, path)),
      ...Object.keys(part.objects).map(name => `${name}.yaml`),
    ],
    images: [{ name: 'sekisho/sekisho', newName, digest }],
    patches: part.patches,
    replacements: part.replacements ?? [],
  })
}

function sharedPatches(settings: ClusterSettings): readonly object[] {
  return [
    patchOf({ kind: 'Service', name: 'sekisho-broker' }, { op: 'add', path: '/spec/externalIPs', value: [settings.nodeAddress] }),
    // The node's container runtime asks for registry tokens and has no cluster DNS: a fixed address serves it and the pods.
    patchOf(
      { kind: 'Service', name: 'sekisho-registry-tokens' },
      { op: 'add', path: '/spec/clusterIP', value: settings.registryTokenAddress },
    ),
  ]
}

/** Processes read their settings at start only: a changed setting must replace the pods. */
export function restartPatch(environment: Readonly<Record<string, string>>): object {
  const digest = createHash('sha256').update(JSON.stringify(environment)).digest('hex').slice(0, 16)
  return patchOf(
    { kind: 'Deployment', labelSelector: 'app.kubernetes.io/name=sekisho' },
    { op: 'add', path: '/spec/template/metadata/annotations', value: { 'sekisho.dev/settings': digest } },
  )
}
