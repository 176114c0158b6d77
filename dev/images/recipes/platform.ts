// Sekisho itself: Node.js, git, production packages and the source, ordered by how often they change, so that a changed source file
// changes one small layer. It runs as an unprivileged user with a read-only root; only /tmp is writable.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../src/lib/errors.ts'
import { diskFile, readTree } from '../archive/read-tree.ts'
import { folder } from '../archive/tree-entry.ts'
import type { LayerPlan } from '../blobs/build-layer.ts'
import { certificateBundle, searchPath } from '../image/image-plan.ts'
import { productionPackages } from '../production-packages.ts'
import { baseLayer, basePackages, certificateLayer, neverRun, nodeLayer } from './base-layers.ts'
import { contentKey } from './buildpack.ts'
import type { Recipe, RecipeDeps } from './recipe.ts'

const home = 'app'

/** Tests and examples do not run in the cluster; changing them must not restart the platform. */
const leftOut = /(\.test\.ts$|^examples(\/|$))/
/** Type declarations, source maps and readme files of packages are never loaded and are half of all files. Licences stay. */
const leftOutOfPackages =
  /(^|\/)(\.bin|\.package-lock\.json|\.github|(readme|changelog|history)[^/]*\.md)(\/|$)|\.(d\.[cm]?ts|map|flow|tsbuildinfo)$/i

async function gitLayer({ packages }: RecipeDeps): Promise<LayerPlan> {
  const inBase = new Set((await packages.resolve(basePackages, neverRun)).map(file => file.sha256))
  const files = (await packages.resolve(['git'], neverRun)).filter(file => !inBase.has(file.sha256))
  return { name: 'git', key: ['1', ...files.map(file => file.sha256)], entries: () => packages.entriesOf(files) }
}

async function packageLayer(deps: RecipeDeps): Promise<LayerPlan> {
  const production = await productionPackages(deps)
  return {
    name: 'node_modules',
    key: ['1', production.key, leftOutOfPackages.source],
    entries: async () =>
      readTree(await production.install(), { into: `${home}/node_modules`, keep: path => !leftOutOfPackages.test(path) }),
  }
}

async function sourceLayer({ repositoryFolder }: RecipeDeps): Promise<LayerPlan> {
  const folders = await Promise.all(
    ['src', 'prisma', 'deploy'].map(name =>
      readTree(join(repositoryFolder, name), { into: `${home}/${name}`, keep: path => !leftOut.test(path) }),
    ),
  )
  const entries = [
    folder(home),
    await diskFile(`${home}/package.json`, join(repositoryFolder, 'package.json'), 0o644),
    ...folders.flat(),
  ]
  return { name: 'source', key: ['1', await contentKey(entries)], entries: async () => entries }
}

export const platformImage: Recipe = async deps => {
  await readFile(join(deps.repositoryFolder, 'src', 'standalone.ts')).catch((cause: unknown) => {
    throw new AppError('invalid_configuration', 'src/standalone.ts is missing: the image sekisho would have no entry point', {
      cause,
    })
  })
  return {
    repository: 'sekisho/sekisho',
    tag: 'dev',
    layers: [
      await baseLayer(deps),
      await certificateLayer(),
      await gitLayer(deps),
      await nodeLayer(deps),
      await packageLayer(deps),
      await sourceLayer(deps),
    ],
    config: () => ({
      user: '65532:65532',
      workingFolder: `/${home}`,
      entrypoint: ['node', 'src/standalone.ts'],
      environment: {
        PATH: searchPath,
        HOME: '/tmp',
        NODE_ENV: 'production',
        NODE_EXTRA_CA_CERTS: certificateBundle,
        SSL_CERT_FILE: certificateBundle,
        GIT_SSL_CAINFO: certificateBundle,
        GIT_TERMINAL_PROMPT: '0',
      },
      labels: { 'org.opencontainers.image.title': 'sekisho', 'org.opencontainers.image.licenses': 'Apache-2.0' },
    }),
  }
}
