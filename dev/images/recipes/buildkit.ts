// The image of a Dockerfile build: BuildKit in rootless mode, git, and the three programs of dev/buildkit. Its user is an
// ordinary one. Two programs may set user and group ids for the user namespace of buildkitd: by a file capability each, not as
// root.
// Source: https://github.com/moby/buildkit/blob/master/docs/rootless.md,
// https://rootlesscontaine.rs/getting-started/common/subuid/
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { firstUserOf, maxUserRanges, userRangeSize } from '../../../src/lib/limits/user-range.ts'
import { buildkitVersion } from '../../cluster/binaries/catalog.ts'
import { diskFile } from '../archive/read-tree.ts'
import { type FileCapability, folder, type TreeEntry, textFile } from '../archive/tree-entry.ts'
import type { LayerPlan } from '../blobs/build-layer.ts'
import { certificateBundle, type ImageConfig, searchPath } from '../image/image-plan.ts'
import { authorityLayers, baseLayer, basePackages, certificateLayer, gitLayer, neverRun } from './base-layers.ts'
import { contentKey } from './buildpack.ts'
import type { Recipe, RecipeDeps } from './recipe.ts'

/**
 * The user that runs every container of a build, and the ids that its user namespace may use. The pod of a build names the same
 * user.
 */
const user = { name: 'build', id: 1000, home: '/home/build', firstSubordinate: 100_000, subordinates: 65_536 }
const owned = { uid: user.id, gid: user.id }
const runtimeFolder = `/run/user/${user.id}`

const buildkitPrograms = ['buildctl', 'buildkitd', 'rootlesskit'] as const
const scripts = ['build-source', 'build-daemon', 'build-image'] as const
const mayMap: ReadonlyMap<string, FileCapability> = new Map([
  ['usr/bin/newuidmap', 'setuid'],
  ['usr/bin/newgidmap', 'setgid'],
])

function withCapability(entry: TreeEntry): TreeEntry {
  const capability = mayMap.get(entry.path)
  return entry.kind === 'file' && capability !== undefined ? { ...entry, capability } : entry
}

/** runc, which starts the processes of RUN, and what gives the user namespace its ids. */
async function runtimeLayer({ packages }: RecipeDeps): Promise<LayerPlan> {
  const inBase = new Set((await packages.resolve(basePackages, neverRun)).map(file => file.sha256))
  const files = (await packages.resolve(['runc', 'uidmap'], neverRun)).filter(file => !inBase.has(file.sha256))
  return {
    name: 'runc and uidmap',
    key: ['1', ...files.map(file => file.sha256)],
    entries: async () => (await packages.entriesOf(files)).map(withCapability),
  }
}

/** The user of the image in the range of a tenant: its own id there, and as subordinates all others of the range. */
function userInRange(first: number): { readonly name: string; readonly id: number; readonly ranges: readonly string[] } {
  const id = first + user.id
  const name = `${user.name}${first}`
  return { name, id, ranges: [`${name}:${first}:${user.id}`, `${name}:${id + 1}:${userRangeSize - user.id - 1}`] }
}

function lines(...texts: readonly string[]): string {
  return texts.map(text => `${text}\n`).join('')
}

/**
 * Admission moves the user of the pod into the range of the tenant, and newuidmap gives the user namespace what the image says
 * of the caller: ids of the same range. Group ids count for no limit of the kernel and are the same for all.
 */
function userFiles(): readonly TreeEntry[] {
  const tenants = Array.from({ length: maxUserRanges }, (_, index) => userInRange(firstUserOf(index)))
  const entry = (name: string, id: number): string => `${name}:x:${id}:${user.id}:builds:${user.home}:/bin/sh`
  const subordinates = (name: string): string => `${name}:${user.firstSubordinate}:${user.subordinates}`
  return [
    textFile(
      'etc/passwd',
      lines('root:x:0:0:root:/root:/bin/sh', entry(user.name, user.id), ...tenants.map(({ name, id }) => entry(name, id))),
    ),
    textFile('etc/group', lines('root:x:0:', `${user.name}:x:${user.id}:`)),
    textFile('etc/subuid', lines(subordinates(user.name), ...tenants.flatMap(({ ranges }) => ranges))),
    textFile('etc/subgid', lines(subordinates(user.name), ...tenants.map(({ name }) => subordinates(name)))),
    folder(user.home.slice(1), 0o770, owned),
    folder(runtimeFolder.slice(1), 0o770, owned),
  ]
}

async function programLayer({ binary }: RecipeDeps): Promise<LayerPlan> {
  const files: { readonly program: string; readonly path: string }[] = []
  for (const program of buildkitPrograms) files.push({ program, path: await binary('buildkit', program) })
  return {
    name: 'buildkit',
    key: ['1', ...files.map(file => file.path)],
    entries: () => Promise.all(files.map(file => diskFile(`usr/local/bin/${file.program}`, file.path, 0o755))),
  }
}

async function scriptLayer({ repositoryFolder }: RecipeDeps): Promise<LayerPlan> {
  const read = async (name: string): Promise<TreeEntry> =>
    textFile(`usr/local/bin/${name}`, await readFile(join(repositoryFolder, 'dev', 'buildkit', 'programs', name), 'utf8'), 0o755)
  const entries = [...userFiles(), ...(await Promise.all(scripts.map(read)))]
  return { name: 'programs of builds', key: ['1', await contentKey(entries)], entries: async () => entries }
}

export const buildkitImage: Recipe = async deps => ({
  repository: 'cnb/buildkit',
  tag: buildkitVersion,
  layers: [
    await baseLayer(deps),
    await certificateLayer(),
    await gitLayer(deps),
    await runtimeLayer(deps),
    await programLayer(deps),
    ...(await authorityLayers(deps)),
    await scriptLayer(deps),
  ],
  config: buildkitConfig,
})

function buildkitConfig(): ImageConfig {
  return {
    user: `${user.id}:${user.id}`,
    environment: {
      PATH: searchPath,
      USER: user.name,
      HOME: user.home,
      TMPDIR: `${user.home}/tmp`,
      XDG_RUNTIME_DIR: runtimeFolder,
      SSL_CERT_FILE: certificateBundle,
      GIT_SSL_CAINFO: certificateBundle,
    },
    labels: { 'org.opencontainers.image.title': 'sekisho-buildkit', 'org.opencontainers.image.licenses': 'Apache-2.0' },
  }
}
