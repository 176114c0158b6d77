// Sekisho itself: Node.js, git, prlimit, production packages and the source, ordered by how often they change, so that a
// changed source file changes one small layer. It runs as an unprivileged user with a read-only root; only /tmp is writable.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../src/lib/errors.ts'
import { diskFile, readTree } from '../archive/read-tree.ts'
import { folder, type TreeEntry, textFile } from '../archive/tree-entry.ts'
import type { LayerPlan } from '../blobs/build-layer.ts'
import { certificateBundle, type ImageConfig, searchPath } from '../image/image-plan.ts'
import { productionPackages } from '../production-packages.ts'
import { baseLayer, certificateLayer, gitLayer, neverRun, nodeLayer } from './base-layers.ts'
import { contentKey } from './buildpack.ts'
import { hook, hookFile, plainSource, runtimeEnvironment } from './plain-sources.ts'
import type { Recipe, RecipeDeps } from './recipe.ts'

/** Where the platform is in the image. */
export const home = 'app'
/** The folders of the repository that run there. */
export const sourceFolders = ['src', 'prisma', 'deploy'] as const

/** Tests and examples do not run in the cluster; changing them must not restart the platform. */
const leftOut = /(\.test\.ts$|^examples(\/|$))/
/** Type declarations, source maps and readme files of packages are never loaded and are half of all files. Licences stay. */
const leftOutOfPackages =
  /(^|\/)(\.bin|\.package-lock\.json|\.github|(readme|changelog|history)[^/]*\.md)(\/|$)|\.(d\.[cm]?ts|map|flow|tsbuildinfo)$/i

/** What prlimit of util-linux does not need, although other programs of that package do. */
const notOfPrlimit = [
  ...['libblkid1', 'libcap-ng0', 'libcrypt1', 'libmount1', 'libpam0g', 'libselinux1', 'libsystemd0', 'libtinfo6', 'libudev1'],
  ...['libuuid1', 'zlib1g', 'util-linux-extra'],
]
const prlimitFiles = /(^|\/)(prlimit|libsmartcols\.so[.\d]*)$/

/** The program with which the platform limits git and charts: one file of util-linux and its library. */
async function prlimitLayer({ packages }: RecipeDeps): Promise<LayerPlan> {
  const files = await packages.resolve(['util-linux', 'libsmartcols1'], [...neverRun, 'libc6', 'libgcc-s1', ...notOfPrlimit])
  return {
    name: 'prlimit',
    key: ['1', ...files.map(file => file.sha256)],
    entries: async () => (await packages.entriesOf(files)).filter(({ path }) => prlimitFiles.test(path)),
  }
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
  const entries = await appEntries(repositoryFolder)
  return { name: 'source', key: ['1', await contentKey(entries)], entries: async () => entries }
}

/** What the platform runs from, in the image's folder for it, without packages. */
export async function appEntries(repositoryFolder: string): Promise<readonly TreeEntry[]> {
  const [sources = [], ...others] = await Promise.all(
    sourceFolders.map(name =>
      readTree(join(repositoryFolder, name), { into: `${home}/${name}`, keep: path => !leftOut.test(path) }),
    ),
  )
  return [
    folder(home),
    textFile(`${home}/${hookFile}`, hook),
    await diskFile(`${home}/package.json`, join(repositoryFolder, 'package.json'), 0o644),
    ...(await Promise.all(sources.map(plainSource))),
    ...others.flat(),
  ]
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
      await prlimitLayer(deps),
      await nodeLayer(deps),
      await packageLayer(deps),
      await sourceLayer(deps),
    ],
    config: platformConfig,
  }
}

/** How the platform runs. The Dockerfile at the root says the same. */
export function platformConfig(): ImageConfig {
  return {
    user: '65532:65532',
    workingFolder: `/${home}`,
    // docs/adr/0055: V8 must not allocate what one request needs in its old generation.
    entrypoint: ['node', '--no-allocation-site-pretenuring', 'src/standalone.ts'],
    environment: {
      PATH: searchPath,
      HOME: '/tmp',
      ...runtimeEnvironment(`/${home}`),
      NODE_EXTRA_CA_CERTS: certificateBundle,
      SSL_CERT_FILE: certificateBundle,
      GIT_SSL_CAINFO: certificateBundle,
      GIT_TERMINAL_PROMPT: '0',
    },
    labels: { 'org.opencontainers.image.title': 'sekisho', 'org.opencontainers.image.licenses': 'Apache-2.0' },
  }
}
