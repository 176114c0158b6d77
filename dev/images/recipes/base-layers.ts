// The layers that several images share: a Debian libc with busybox, certificate authorities, Node.js, npm. The base has neither
// a package manager nor a shell other than busybox's.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { AppError } from '../../../src/lib/errors.ts'
import { diskFile, readTree } from '../archive/read-tree.ts'
import { folder, link, type TreeEntry, textFile } from '../archive/tree-entry.ts'
import type { LayerPlan } from '../blobs/build-layer.ts'
import type { PackageFile } from '../debian/dependency-closure.ts'
import type { PackageSource } from '../debian/package-source.ts'
import { certificateBundle } from '../image/image-plan.ts'
import type { RecipeDeps } from './recipe.ts'

/** libstdc++6 is for Node.js; busybox provides `sh` and the tools that start scripts call. */
export const basePackages = ['libc6', 'libgcc-s1', 'libstdc++6', 'busybox-static']

/** Debian's maintainer scripts never run here, so packages that only they need are left out. */
export const neverRun = ['debconf', 'debconf-2.0', 'dpkg', 'tar', 'perl', 'perl-base', 'liberror-perl', 'git-man', 'gcc-12-base']

/** Only maintainer scripts use these packages, or pip has its own copy of them. */
export const pythonNeverRuns = [
  ...['install-info', 'mailcap', 'mime-support', 'readline-common', 'ca-certificates'],
  ...[
    'python3',
    'python3-distutils',
    'python3-lib2to3',
    'python3-setuptools',
    'python3-wheel',
    'python3-pip-whl',
    'python3-setuptools-whl',
  ],
]

const users = [
  'root:x:0:0:root:/root:/bin/sh',
  'cnb:x:1001:1001:buildpacks:/home/cnb:/bin/sh',
  'nonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin',
  '',
].join('\n')
const groups = ['root:x:0:', 'cnb:x:1001:', 'nonroot:x:65532:', ''].join('\n')
const release = [
  'PRETTY_NAME="Sekisho development base (Debian 12 packages)"',
  'NAME="Sekisho base"',
  'ID=debian',
  'VERSION_ID="12"',
  '',
].join('\n')

export async function baseLayer({ packages, run }: RecipeDeps): Promise<LayerPlan> {
  const files = await packages.resolve(basePackages, neverRun)
  return {
    name: 'base',
    key: ['2', ...files.map(file => file.sha256), users, groups, release],
    entries: async () => {
      const unpacked = await packages.entriesOf(files)
      const busybox = unpacked.find(entry => entry.path === 'bin/busybox')
      if (busybox?.kind !== 'file' || busybox.source.kind !== 'path')
        throw new AppError('internal', 'the package busybox-static does not contain bin/busybox')
      const applets = (await run(busybox.source.path, ['--list-full'])).trim().split('\n')
      return [
        ...applets.filter(applet => applet !== 'bin/busybox').map(applet => link(applet, '/bin/busybox')),
        ...unpacked,
        ...systemFiles(),
      ]
    },
  }
}

function systemFiles(): readonly TreeEntry[] {
  return [
    textFile('etc/passwd', users),
    textFile('etc/group', groups),
    textFile('etc/os-release', release),
    textFile('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
    folder('root', 0o700),
    folder('home/cnb', 0o755, { uid: 1001, gid: 1001 }),
    folder('tmp', 0o1777),
    folder('var/tmp', 0o1777),
  ]
}

/** The machine's own certificate bundle, so that builds can use a proxy that inspects TLS. */
export async function certificateLayer(): Promise<LayerPlan> {
  const bundle = await readFile(certificateBundle).catch((cause: unknown) => {
    throw new AppError('unavailable', `${certificateBundle} is missing: apt-get install ca-certificates`, { cause })
  })
  return {
    name: 'certificates',
    key: [createHash('sha256').update(bundle).digest('hex')],
    entries: async () => [await diskFile(certificateBundle.slice(1), certificateBundle, 0o644), folder('tmp', 0o1777)],
  }
}

/**
 * The authority of the local cluster beside the bundle: Go programs such as the lifecycle read every file of that folder. Its
 * own layer, so that another cluster changes a few hundred bytes. None without a cluster.
 */
export async function authorityLayers({ authorityFile }: RecipeDeps): Promise<readonly LayerPlan[]> {
  if (authorityFile === undefined) return []
  const text = await readFile(authorityFile, 'utf8')
  const key = [createHash('sha256').update(text).digest('hex')]
  return [{ name: 'authority', key, entries: async () => [textFile('etc/ssl/certs/sekisho-cluster.pem', text)] }]
}

export function pythonFiles(packages: PackageSource, withPip: boolean): Promise<readonly PackageFile[]> {
  const roots = withPip ? ['python3.11', 'python3-pip'] : ['python3.11']
  return packages.resolve(roots, [...basePackages, ...neverRun, ...pythonNeverRuns])
}

/** What Python's interpreter needs on top of the base; with `withPip` also what makes an environment with pip in it. */
export async function pythonLayer({ packages }: RecipeDeps, { withPip }: { readonly withPip: boolean }): Promise<LayerPlan> {
  const files = await pythonFiles(packages, withPip)
  return {
    name: withPip ? 'python with pip' : 'python',
    key: ['1', ...files.map(file => file.sha256)],
    entries: async () => [...(await packages.entriesOf(files)), link('usr/bin/python3', 'python3.11')],
  }
}

/** git and the libraries that it needs besides the base. */
export async function gitLayer({ packages }: RecipeDeps): Promise<LayerPlan> {
  const inBase = new Set((await packages.resolve(basePackages, neverRun)).map(file => file.sha256))
  const files = (await packages.resolve(['git'], neverRun)).filter(file => !inBase.has(file.sha256))
  return { name: 'git', key: ['1', ...files.map(file => file.sha256)], entries: () => packages.entriesOf(files) }
}

export async function nodeLayer({ node }: RecipeDeps): Promise<LayerPlan> {
  return {
    name: 'node',
    key: ['1', node.nodeVersion],
    entries: async () => [await diskFile('usr/local/bin/node', await node.nodeProgram(), 0o755)],
  }
}

export async function npmLayer({ node }: RecipeDeps): Promise<LayerPlan> {
  return {
    name: 'npm',
    key: ['1', node.npmVersion],
    entries: async () => [
      ...(await readTree(await node.npmFolder(), {
        into: 'usr/local/lib/node_modules/npm',
        keep: path => !/^(docs|man)(\/|$)/.test(path),
      })),
      link('usr/local/bin/npm', '../lib/node_modules/npm/bin/npm-cli.js'),
      link('usr/local/bin/npx', '../lib/node_modules/npm/bin/npx-cli.js'),
    ],
  }
}
