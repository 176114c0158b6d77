// What programs take for granted of a Linux system, for the images in which apps are built and run: bash, time zones, a UTF-8
// locale, names of protocols and services, and a name for the user. docs/guide/buildpacks.md lists it.
import { defaultImageUser, firstUserOf, maxUserRanges } from '../../../src/lib/limits/user-range.ts'
import { link, textFile } from '../archive/tree-entry.ts'
import type { LayerPlan } from '../blobs/build-layer.ts'
import type { PackageFile } from '../debian/dependency-closure.ts'
import type { PackageSource } from '../debian/package-source.ts'
import { certificateBundle } from '../image/image-plan.ts'
import { basePackages, neverRun } from './base-layers.ts'
import type { RecipeDeps } from './recipe.ts'

export const runPackages = ['bash', 'tzdata', 'libc-bin', 'netbase', 'libpq5']

/** Of these packages only maintainer scripts, or nothing that an app has, would use the rest. */
const notNeeded = ['base-files', 'debianutils', 'libldap-common', 'libsasl2-modules-db']
/** Of libc-bin the compiled locale; of time zones those that count no leap seconds. */
const leftOut =
  /^(?:usr\/share\/zoneinfo\/(?:right|posix)(?:\/|$)|(?:usr\/)?s?bin\/(?:iconv|ldconfig|zdump|iconvconfig)|etc\/(?:bindresvport|gai))/

const home = '/tmp'

/**
 * Of every process. A pod's root file system is read-only, so its home is the folder that can be written; without LANG Python,
 * Perl and others take text for ASCII.
 */
export const runVariables = { LANG: 'C.UTF-8', HOME: home }

export function runEnvironmentFiles(packages: PackageSource): Promise<readonly PackageFile[]> {
  return packages.resolve(runPackages, [...basePackages, ...neverRun, ...notNeeded])
}

export async function runEnvironmentLayer({ packages }: RecipeDeps): Promise<LayerPlan> {
  const files = await runEnvironmentFiles(packages)
  const users = userFile()
  return {
    name: 'run environment',
    key: ['1', ...files.map(file => file.sha256), users, leftOut.source],
    entries: async () => [
      ...(await packages.entriesOf(files)).filter(({ path }) => !leftOut.test(path)),
      textFile('etc/passwd', users),
      textFile('etc/timezone', 'Etc/UTC\n'),
      link('etc/localtime', '/usr/share/zoneinfo/Etc/UTC'),
      // Where OpenSSL itself looks, also for programs that get no variables.
      link('usr/lib/ssl/cert.pem', certificateBundle),
    ],
  }
}

/**
 * The user of the image, and its place in the range of every tenant: admission moves the user of a pod there, and programs ask
 * for the name and home of their own user.
 */
function userFile(): string {
  const line = (name: string, id: number): string => `${name}:x:${id}:${defaultImageUser}:app:${home}:/bin/bash\n`
  const tenants = Array.from({ length: maxUserRanges }, (_, index) => firstUserOf(index))
  return [
    'root:x:0:0:root:/root:/bin/sh\n',
    `cnb:x:${defaultImageUser}:${defaultImageUser}:buildpacks:/home/cnb:/bin/bash\n`,
    'nonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n',
    ...tenants.map(first => line(`app${first}`, first + defaultImageUser)),
  ].join('')
}
