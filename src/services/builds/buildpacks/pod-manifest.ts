// The pod of a build with buildpacks (ADR 0075): the phases of the lifecycle in three containers, which run one after the other
// and share only the volumes named here. Pure.
// - `prepare` fetches the commit, reads the previous image and restores layers. It has the registry credential and runs no code
//   of buildpacks or of the tenant.
// - `build` runs that code: detection and build, in the builder image. It has the secrets of the build and no credential.
// - `export` makes the image. It has the credential; no process of `build` is left when it starts.
import { buildpacksBuildContainers as containers, buildpacksBuildLabel as podLabel } from '../../../api/buildpacks-build.ts'
import type { Pod } from '../../../api/builtin/index.ts'
import { imageRepositoryAnnotation } from '../../../api/dockerfile-build.ts'
import { defined } from '../../../lib/json/defined.ts'
import { buildSecretName } from '../build-secrets.ts'
import type { BuildRequest, BuiltBy, LoggedBuild } from '../builder.ts'
import { builderAnnotation, cacheTag, type KpackSettings } from '../kpack/build-manifest.ts'
import { ownerUidOf } from '../owner.ts'
import {
  type BuildContainer,
  type BuildPod,
  buildPodMetadata,
  credentialVolume,
  environment,
  mount,
  podOfBuild,
  restrictedContainer,
  secretVolume,
} from '../pods/build-pod.ts'
import { type KnownBuilder, platformApi } from './known-builder.ts'

export type BuildpacksSettings = Pick<
  KpackSettings,
  'registry' | 'clusterBuilder' | 'builders' | 'serviceAccount' | 'resources'
> & {
  /** The image that dev/images/recipes/builds/phases.ts describes, by digest. */
  readonly image: string
  /** The Secret with the tenant's registry credential; undefined when the registry asks for none. */
  readonly credential: string | undefined
}

const stackAnnotation = 'builds.sekisho.dev/stack'
const runImageAnnotation = 'builds.sekisho.dev/run-image'

/** Paths of the lifecycle and of kpack's `build-init`, which are compiled into that. */
const folders = {
  workspace: '/workspace',
  layers: '/layers',
  platform: '/platform',
  home: '/builder/home',
  credentials: '/var/build-secrets',
  /** What `prepare` hands to `export`: where the code of `build` does not reach. */
  handed: '/projectMetadata',
  tools: '/build-tools',
  temporary: '/tmp',
} as const
/** Variables with this prefix are what build-init gives to buildpacks. */
const forBuildpacks = 'PLATFORM_ENV_'

/** Of what has the credential. */
const readOnlyRoot = { ...restrictedContainer, readOnlyRootFilesystem: true }

type Parts = {
  readonly request: BuildRequest
  readonly builder: KnownBuilder
  readonly settings: BuildpacksSettings
  readonly repository: string
}

/** What built the image. */
export function builderOf({ metadata: { annotations = {} } }: Pod): BuiltBy | undefined {
  const { [builderAnnotation]: name, [stackAnnotation]: stack } = annotations
  return name === undefined || stack === undefined ? undefined : { name, stack }
}

/** On which the image is, as it was named to the phases. */
export function runImageOf({ metadata }: Pod): string | undefined {
  return metadata.annotations?.[runImageAnnotation]
}

export function repositoryOf({ metadata }: Pod): string | undefined {
  return metadata.annotations?.[imageRepositoryAnnotation]
}

/** The source of the pod's build, as `prepareContainer` names it. */
export function sourceOf({ spec }: Pod): { readonly url: string; readonly commit: string } {
  const env = spec?.initContainers?.find(({ name }) => name === containers.prepare)?.env ?? []
  const value = (name: string): string => env.find(variable => variable.name === name)?.value ?? ''
  return { url: value('GIT_URL'), commit: value('GIT_REVISION') }
}

/** What the pod's build pushes. */
export function pushesOf(pod: Pod): LoggedBuild['pushes'] {
  const repository = repositoryOf(pod) ?? ''
  return { image: `${repository}:${pod.metadata.name}`, cache: cacheTag(repository, ownerUidOf(pod, 'RemoteSync')) }
}

/** The same for each container, of which one runs at a time. Memory that was asked for is reserved, so that the node has it. */
function resourcesOf({ request, settings }: Parts): object {
  const { cpuRequest, memoryRequest, memoryLimit } = settings.resources
  const { cpu, memory, ephemeralStorage } = request.resources
  return {
    requests: { cpu: cpu ?? cpuRequest, memory: memory ?? memoryRequest },
    limits: { memory: memory ?? memoryLimit, ...defined({ 'ephemeral-storage': ephemeralStorage }) },
  }
}

/** The environment of the phases that talk to the registry, and what they are to read and push there. */
function registryEnvironment({ request, settings, repository }: Parts): Readonly<Record<string, string>> {
  return {
    CNB_PLATFORM_API: platformApi,
    IMAGE_TAG: `${repository}:${request.key.name}`,
    CACHE_IMAGE: cacheTag(repository, request.owner.uid),
    ...defined({ DOCKER_CONFIG: settings.credential && `${folders.credentials}/docker` }),
  }
}

function prepareContainer(parts: Parts): BuildContainer {
  const { request, builder, settings } = parts
  const { credential } = settings
  const given = request.env.map(({ name, value }) => [`${forBuildpacks}${name}`, value] as const)
  return {
    name: containers.prepare,
    image: settings.image,
    command: ['prepare'],
    // To build-init: where it finds the credential.
    args: credential === undefined ? [] : [`-dockerconfig=${credential}`],
    env: environment({
      ...Object.fromEntries(given),
      ...registryEnvironment(parts),
      HOME: folders.home,
      GIT_URL: request.source.url,
      GIT_REVISION: request.source.commit,
      SOURCE_SUB_PATH: request.source.subPath ?? '',
      RUN_IMAGE: builder.runImage,
      PREVIOUS_IMAGE: request.previousImage ?? '',
      BUILDPACKS: builder.buildpacks.join(' '),
    }),
    securityContext: readOnlyRoot,
    resources: resourcesOf(parts),
    volumeMounts: [
      mount('workspace', folders.workspace),
      mount('layers', folders.layers),
      mount('platform', folders.platform),
      mount('handed', folders.handed),
      mount('tools', folders.tools),
      mount('home', folders.home),
      mount('prepare-temporary', folders.temporary),
      ...(credential === undefined
        ? []
        : [
            mount('credential', `${folders.credentials}/docker`, true),
            mount('credential-of-kpack', `${folders.credentials}/${credential}`, true),
          ]),
    ],
  }
}

/** Where the application is, which may be a folder of the repository. The kubelet follows no link out of the volume. */
function workspaceMount({ source: { subPath } }: BuildRequest): object {
  return { ...mount('workspace', folders.workspace), ...defined({ subPath }) }
}

/** Its program is static and comes from `prepare`: a builder image need not have a shell. */
function buildContainer(parts: Parts): BuildContainer {
  const { request, builder } = parts
  const bindings = `${folders.platform}/bindings/${buildSecretName(request.key.name)}`
  return {
    name: containers.build,
    image: builder.image,
    command: [`${folders.tools}/busybox`, 'sh', `${folders.tools}/build`],
    env: environment({ CNB_PLATFORM_API: platformApi }),
    securityContext: restrictedContainer,
    resources: resourcesOf(parts),
    volumeMounts: [
      workspaceMount(request),
      mount('layers', folders.layers),
      mount('platform', folders.platform),
      mount('tools', folders.tools, true),
      ...(request.secrets.length === 0 ? [] : [mount('secrets', bindings, true)]),
    ],
  }
}

function exportContainer(parts: Parts): BuildContainer {
  const { request, settings } = parts
  return {
    name: containers.export,
    image: settings.image,
    command: ['export'],
    env: environment({ ...registryEnvironment(parts), HOME: folders.temporary }),
    securityContext: readOnlyRoot,
    resources: resourcesOf(parts),
    volumeMounts: [
      workspaceMount(request),
      mount('layers', folders.layers),
      mount('handed', folders.handed, true),
      mount('export-temporary', folders.temporary),
      ...(settings.credential === undefined ? [] : [mount('credential', `${folders.credentials}/docker`, true)]),
    ],
  }
}

export function buildpacksPod(request: BuildRequest, builder: KnownBuilder, settings: BuildpacksSettings): BuildPod {
  const { key, owner, timeoutSeconds, secrets } = request
  const { credential } = settings
  // A tenant's builds cannot name another's repository.
  const repository = `${settings.registry}/${owner.namespace}/${request.application}`
  const parts: Parts = { request, builder, settings, repository }
  const metadata = buildPodMetadata(request, podLabel, repository)
  const ofBuilder = {
    [builderAnnotation]: builder.configured,
    [stackAnnotation]: builder.stack,
    [runImageAnnotation]: builder.runImage,
  }
  const emptyDir = (name: string, more: object = {}): object => ({ name, emptyDir: more })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...ofBuilder } },
    spec: {
      ...podOfBuild(settings.serviceAccount, timeoutSeconds),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: builder.user,
        runAsGroup: builder.group,
        fsGroup: builder.group,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      initContainers: [prepareContainer(parts), buildContainer(parts)],
      containers: [exportContainer(parts)],
      volumes: [
        ...['workspace', 'layers', 'platform', 'handed', 'tools', 'prepare-temporary', 'export-temporary'].map(name =>
          emptyDir(name),
        ),
        // build-init writes the credential there, too.
        emptyDir('home', { medium: 'Memory', sizeLimit: '1Mi' }),
        ...(credential === undefined
          ? []
          : [credentialVolume('credential', credential), secretVolume('credential-of-kpack', credential)]),
        // The pod waits until it exists.
        ...(secrets.length === 0 ? [] : [secretVolume('secrets', buildSecretName(key.name))]),
      ],
    },
  }
}
