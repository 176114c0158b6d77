// What only the build image has: compilers, so that packages without a binary for this system are compiled, and apt with the
// sources of the machine that builds the images, by which the buildpack `packages` fetches what an Aptfile lists.
import { link, textFile } from '../archive/tree-entry.ts'
import type { LayerPlan } from '../blobs/build-layer.ts'
import type { PackageFile } from '../debian/dependency-closure.ts'
import { basePackages, neverRun, pythonFiles, pythonNeverRuns } from './base-layers.ts'
import type { RecipeDeps } from './recipe.ts'
import { runEnvironmentFiles } from './run-environment.ts'

/** Headers are those of libraries that the run image has: PostgreSQL's client, OpenSSL, Python. perl runs pg_config. */
export const compilers = ['gcc', 'g++', 'make', 'libc6-dev', 'pkgconf', 'python3.11-dev', 'libpq-dev', 'perl-base']
const aptPackages = ['apt', 'dpkg', 'tar', 'debian-archive-keyring', 'gpgv']
const notNeeded = ['adduser', 'passwd', 'libelogind0', 'base-files', 'debianutils', 'gpgv1', 'gpgv2']
/** Static libraries and tests of Python are larger than all compilers. */
const leftOut = /(?:libpython3[.\d]*(?:-pic)?\.a$|\/config-3[^/]*\/.*\.a$|^usr\/share\/(?:python3|perl)\/debian)/

/** The name under which the tools are known: Debian makes these links in maintainer scripts. */
const links = [link('usr/bin/cc', 'gcc'), link('usr/bin/c++', 'g++')]

export async function compilerLayer({ packages }: RecipeDeps): Promise<LayerPlan> {
  const pruned = [...basePackages, ...neverRun, ...pythonNeverRuns].filter(name => !compilers.includes(name))
  const files = await packages.resolve(compilers, pruned)
  return {
    name: 'compilers',
    key: ['1', ...files.map(file => file.sha256), leftOut.source],
    entries: async () => [...(await packages.entriesOf(files)).filter(({ path }) => !leftOut.test(path)), ...links],
  }
}

/** Packages without which no library works the worse, because only scripts of packages use them: apt is not to fetch them. */
const standIns = [
  ...[
    'debconf',
    'dpkg',
    'gcc-12-base',
    'base-files',
    'debianutils',
    'install-info',
    'readline-common',
    'mailcap',
    'mime-support',
  ],
  ...['libldap-common', 'libsasl2-modules-db'],
]

/** Where the buildpack `packages` reads what the run image has: apt takes these packages as installed. */
export const installedFile = 'usr/share/sekisho/installed-packages'

export async function aptLayer(deps: RecipeDeps): Promise<LayerPlan> {
  const { packages } = deps
  const files = await packages.resolve(aptPackages, [
    ...basePackages,
    ...neverRun.filter(name => !aptPackages.includes(name)),
    ...notNeeded,
  ])
  const installed = statusOf(await installedFiles(deps))
  const sources = await packages.sources()
  return {
    name: 'apt',
    key: ['1', ...files.map(file => file.sha256), installed, sources],
    entries: async () => [
      ...(await packages.entriesOf(files)).filter(({ path }) => !/^(?:lib\/systemd|etc\/(?:cron|logrotate))/.test(path)),
      textFile(installedFile, installed),
      textFile('etc/apt/sources.list', sources),
    ],
  }
}

/** What the run image has, and the stand-ins. */
async function installedFiles({ packages }: RecipeDeps): Promise<readonly PackageFile[]> {
  const found = await Promise.all([
    packages.resolve(basePackages, neverRun),
    runEnvironmentFiles(packages),
    pythonFiles(packages, false),
    packages.resolve(standIns, ['perl', 'perl-base']).then(files => files.filter(({ name }) => standIns.includes(name))),
  ])
  return [...new Map(found.flat().map(file => [file.fileName, file])).values()]
}

/** As in /var/lib/dpkg/status (deb-control(5)). Their dependencies are not listed: apt then asks for none of them. */
function statusOf(files: readonly PackageFile[]): string {
  return files
    .map(({ fileName }) => {
      const [name = '', version = '', architecture = ''] = fileName
        .replace(/\.deb$/, '')
        .split('_')
        .map(decodeURIComponent)
      return `Package: ${name}\nStatus: install ok installed\nArchitecture: ${architecture}\nVersion: ${version}\n\n`
    })
    .join('')
}
