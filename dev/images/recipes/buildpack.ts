// A folder of dev/images/buildpacks as a buildpack image (CNB distribution specification, "Buildpackage"). Its label names the
// layer's diff id, which is known only after packing; therefore an image's configuration is a function of its layers.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../src/lib/errors.ts'
import { readTree } from '../archive/read-tree.ts'
import { type TreeEntry, textFile } from '../archive/tree-entry.ts'
import type { Layer } from '../blobs/build-layer.ts'
import { serverBundle } from '../buildpacks/shared/static-site/find-site.ts'
import { bundleStaticServer } from '../bundle-static-server.ts'
import type { ImageConfig } from '../image/image-plan.ts'
import type { Recipe } from './recipe.ts'

export type Buildpack = { readonly folder: string; readonly id: string; readonly version: string }

export const buildpacks = {
  prepare: { folder: 'prepare', id: 'platform/prepare', version: '0.2.0' },
  packages: { folder: 'packages', id: 'sekisho/packages', version: '0.1.0' },
  node: { folder: 'node', id: 'sekisho/node', version: '0.2.0' },
  python: { folder: 'python', id: 'sekisho/python', version: '0.1.0' },
  static: { folder: 'static', id: 'sekisho/static', version: '0.1.0' },
} as const satisfies Record<string, Buildpack>

const api = '0.10'
const stacks = [{ id: '*' }]

export function buildpackConfig({ id, version }: Buildpack, layers: readonly Layer[]): ImageConfig {
  const [layer] = layers
  if (!layer) throw new AppError('internal', `the buildpack ${id} has no layer`)
  return {
    user: '',
    environment: {},
    labels: {
      'io.buildpacks.buildpack.layers': JSON.stringify({ [id]: { [version]: { api, stacks, layerDiffID: layer.diffId } } }),
      'io.buildpacks.buildpackage.metadata': JSON.stringify({ id, version, stacks }),
    },
  }
}

export function buildpackImage(buildpack: Buildpack): Recipe {
  return async ({ repositoryFolder }) => {
    const { id, version } = buildpack
    const home = `cnb/buildpacks/${id.replace('/', '_')}`
    const folder = join(repositoryFolder, 'dev', 'images', 'buildpacks')
    const source = join(folder, buildpack.folder)
    const keep = (path: string): boolean => !path.endsWith('.test.ts') && !path.startsWith('testing')
    const entries = [
      ...(await readTree(source, { into: `${home}/${version}`, keep })),
      // At the place where the sources import it from.
      ...(await readTree(join(folder, 'shared'), { into: `${home}/shared`, keep })),
      textFile(`${home}/${version}/${serverBundle}`, await bundleStaticServer()),
    ]
    await demandDescriptor(join(source, 'buildpack.toml'), buildpack)
    return {
      repository: `cnb/${id.replace('/', '-')}`,
      tag: version,
      layers: [{ name: `buildpack ${id}`, key: ['1', await contentKey(entries)], entries: async () => entries }],
      config: layers => buildpackConfig(buildpack, layers),
    }
  }
}

/** The descriptor in the layer and the label must agree; otherwise a builder fails much later. */
async function demandDescriptor(file: string, { id, version }: Buildpack): Promise<void> {
  const text = await readFile(file, 'utf8')
  for (const line of [`api = "${api}"`, `id = "${id}"`, `version = "${version}"`]) {
    if (!text.includes(line)) throw new AppError('invalid_configuration', `${file} must contain the line ${line}`)
  }
}

/** A digest of paths, modes and contents, for source folders that are small enough to read every time. */
export async function contentKey(entries: readonly TreeEntry[]): Promise<string> {
  const hash = createHash('sha256')
  for (const entry of [...entries].sort((one, other) => (one.path < other.path ? -1 : 1))) {
    hash.update(JSON.stringify([entry.kind, entry.path, entry.mode, entry.kind === 'link' ? entry.target : '']))
    if (entry.kind !== 'file') continue
    hash.update(
      createHash('sha256')
        .update(entry.source.kind === 'bytes' ? entry.source.bytes : await readFile(entry.source.path))
        .digest(),
    )
  }
  return hash.digest('hex')
}
