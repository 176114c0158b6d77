// The settings of builds, of the source store and of the logs of builds.
import { isIPv4 } from 'node:net'
import { buildLogBounds } from '../../api/tenancy/tenant.ts'
import {
  choiceSetting,
  integerSetting,
  listSetting,
  matching,
  optional,
  type Setting,
  type SettingsOf,
  textSetting,
  urlSetting,
} from '../../lib/config.ts'
import { digestPattern } from '../../lib/text/image-digest.ts'
import { sharedSourceSettings } from './source-store/config.ts'

/** `name=image`, or `name=name of a ClusterBuilder`. */
function builderItem(item: string): readonly [string, string] {
  const [, name, image] = /^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)=(\S{1,512})$/.exec(item)?.filter((_, index) => index !== 2) ?? []
  if (name === undefined || image === undefined)
    throw new Error(
      `holds ${item.slice(0, 100)}; it must hold only builders such as paketo=docker.io/paketobuildpacks/builder-jammy-base:latest`,
    )
  return [name, image]
}

/** The form of a quantity as `spec.build.resources` has it. */
function quantitySetting(name: string, description: string, quantity: string): Setting<string> {
  const [pattern, form] = /[0-9]$/.test(quantity)
    ? ([/^[1-9][0-9]{0,6}m?$/, 'cores, such as 4 or 500m'] as const)
    : ([/^[1-9][0-9]{0,6}(Mi|Gi)$/, 'a quantity such as 512Mi or 8Gi'] as const)
  return { ...textSetting(name, description, { default: quantity }), parse: matching(pattern, form) }
}

function podAddressSetting(name: string, description: string): Setting<string> {
  const parse = (text: string): string => {
    if (isIPv4(text)) return text
    throw new Error('must be an IPv4 address: the source server listens on IPv4')
  }
  return { ...textSetting(name, description), parse }
}

function pinnedImageSetting(name: string, description: string) {
  const pattern = new RegExp(`^[^@\\s]{1,255}@${digestPattern}$`)
  const example = `an image by its digest, such as registry.example.com/cnb/${name.split('_')[1]?.toLowerCase()}@sha256:…`
  return optional({ ...textSetting(name, description), parse: matching(pattern, example) })
}

export const buildSettings = {
  clusterBuilder: textSetting('SEKISHO_CLUSTER_BUILDER', 'the kpack ClusterBuilder', { default: 'sekisho' }),
  builders: listSetting(
    'SEKISHO_BUILDERS',
    'further builders that RemoteSyncs and Tenants may name, separated by commas, as name=image or name=ClusterBuilder, such as paketo=docker.io/paketobuildpacks/builder-jammy-base:latest',
    builderItem,
  ),
  maxBuildCpu: quantitySetting('SEKISHO_BUILD_MAXIMUM_CPU', 'the most CPU that spec.build.resources may reserve', '4'),
  maxBuildMemory: quantitySetting(
    'SEKISHO_BUILD_MAXIMUM_MEMORY',
    'the most memory that spec.build.resources may give to a build',
    '8Gi',
  ),
  maxBuildStorage: quantitySetting(
    'SEKISHO_BUILD_MAXIMUM_STORAGE',
    'the most disk space that spec.build.resources may give to a build',
    '40Gi',
  ),
  buildkitImage: pinnedImageSetting(
    'SEKISHO_BUILDKIT_IMAGE',
    'the image with which Dockerfiles are built, by digest (docs/guide/dockerfile.md); without it RemoteSyncs with the strategy Dockerfile wait',
  ),
  buildpacksImage: pinnedImageSetting(
    'SEKISHO_BUILDPACKS_IMAGE',
    'the image of the phases of builds with buildpacks that run beside the builder image, by digest (docs/guide/install.md); without it kpack runs each phase in a container of its own, which takes some seconds more',
  ),
  sourceUrl: urlSetting('SEKISHO_SOURCE_URL', 'the URL by which build pods reach the source store', {
    default: 'http://sekisho-source.sekisho-system.svc:8081',
  }),
  podAddress: optional(
    podAddressSetting(
      'SEKISHO_POD_ADDRESS',
      'the address of this pod (status.podIP): the leader writes it to the EndpointSlice of the Service sekisho-source; without it the Service needs endpoints of yours',
    ),
  ),
  sourceSocket: optional(
    textSetting(
      'SEKISHO_SOURCE_SOCKET',
      'the unix socket of the source store in its own container; without it the controllers start the source store as a child process, which separates less',
    ),
  ),
  ...sharedSourceSettings,
  platformBuilds: integerSetting('SEKISHO_PLATFORM_BUILDS', 'builds that may run at once on the whole platform', {
    minimum: 1,
    maximum: 1000,
    default: '4',
  }),
  rebases: choiceSetting(
    'SEKISHO_REBASES',
    'whether images that were built with buildpacks get a newer run image of their builder without a build, while nobody builds: enabled or disabled (each gets it with its next build)',
    ['enabled', 'disabled'],
    { default: 'enabled' },
  ),
  buildLogMegabytes: integerSetting(
    'SEKISHO_BUILD_LOG_MEGABYTES',
    'the most text in megabytes that is kept of the log of one build: its beginning and its end',
    { minimum: 2, maximum: 64, default: '8' },
  ),
  buildLogTenantMegabytes: integerSetting(
    'SEKISHO_BUILD_LOG_TENANT_MEGABYTES',
    'the most that the build logs of one tenant may take in the database, compressed, in megabytes; the oldest are deleted first',
    { minimum: buildLogBounds.megabytes.min, maximum: buildLogBounds.megabytes.max, default: '256' },
  ),
  buildLogDays: integerSetting('SEKISHO_BUILD_LOG_DAYS', 'the days after which the log of a build that has ended is deleted', {
    minimum: buildLogBounds.days.min,
    maximum: buildLogBounds.days.max,
    default: '30',
  }),
  buildLogStreams: integerSetting(
    'SEKISHO_BUILD_LOG_STREAMS',
    'build logs that are read at once on the whole platform; those of one tenant are at most half of them',
    { minimum: 2, maximum: 1000, default: '40' },
  ),
}

export type BuildSettings = SettingsOf<typeof buildSettings>
