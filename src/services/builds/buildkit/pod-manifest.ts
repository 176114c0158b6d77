// The pod of a Dockerfile build (ADR 0037), with three containers of one image that share only the volumes named here. Pure.
// - `source` fetches the commit. It runs no code of the tenant and has no credential.
// - `buildkitd` runs the tenant's code (RUN). It has no credential, and more than Pod Security `restricted` allows.
// - `build` is the client: it has the registry credential and the secrets of the build, and reports the digest.

import type { Pod } from '../../../api/builtin/index.ts'
import {
  dockerfileBuildContainers as containers,
  imageRepositoryAnnotation as imageAnnotation,
  dockerfileBuildLabel as podLabel,
} from '../../../api/dockerfile-build.ts'
import { literalWords } from '../../../api/pods/literal.ts'
import { buildSecretName } from '../build-secrets.ts'
import type { BuildRequest, LoggedBuild } from '../builder.ts'
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

export type BuildkitSettings = {
  /** Where images go, `host:port` or `host/path`. */
  readonly registry: string
  /** The image that dev/images/recipes/buildkit.ts describes, by digest. */
  readonly image: string
  readonly serviceAccount: string
  /** The Secret with the tenant's registry credential; undefined when the registry asks for none. */
  readonly credential: string | undefined
}

/** Of the image: no other user can make its user namespace. */
const user = 1000
const folders = {
  workspace: '/workspace',
  state: '/var/lib/buildkit',
  socket: '/run/buildkit',
  temporary: '/tmp',
  credential: '/run/secrets/registry',
  secrets: '/run/secrets/build',
} as const
/** Build arguments by which a Dockerfile would change the builder itself, such as its frontend. */
const ofBuilder = 'BUILDKIT_'
const defaults = { cpu: '100m', memory: '2Gi', ephemeralStorage: '10Gi' } as const
/** The files of the commit. The source store serves fewer. */
const maxSource = '2Gi'

const restricted = { ...restrictedContainer, runAsUser: user, runAsGroup: user, readOnlyRootFilesystem: true }

/**
 * What rootless BuildKit needs: two programs of the image that may set ids (their file capabilities count only with privilege
 * escalation), and the system calls unshare and mount, which the default profiles of seccomp and AppArmor refuse. It has no
 * capability itself.
 */
const userNamespace = {
  runAsNonRoot: true,
  runAsUser: user,
  runAsGroup: user,
  allowPrivilegeEscalation: true,
  capabilities: { drop: ['ALL'], add: ['SETUID', 'SETGID'] },
  seccompProfile: { type: 'Unconfined' },
  appArmorProfile: { type: 'Unconfined' },
}

/** Images go to `<registry>/<tenant namespace>/<application>`, so a tenant's builds cannot name another's repository. */
function repositoryOf({ owner, application }: BuildRequest, { registry }: BuildkitSettings): string {
  return `${registry}/${owner.namespace}/${application}`
}

function small(memory: string): object {
  return {
    requests: { cpu: '20m', memory: '32Mi', 'ephemeral-storage': '64Mi' },
    limits: { memory, 'ephemeral-storage': maxSource },
  }
}

/** The source of the pod's build, as `sourceContainer` names it. */
export function sourceOf({ spec }: Pod): { readonly url: string; readonly commit: string } {
  const env = spec?.initContainers?.find(({ name }) => name === containers.source)?.env ?? []
  const value = (name: string): string => env.find(variable => variable.name === name)?.value ?? ''
  return { url: value('SOURCE_URL'), commit: value('SOURCE_COMMIT') }
}

/** The tag of the cache of all builds of this owner. Caches that exist have it: it must not change. */
function cacheTag(repository: string, ownerUid: string): string {
  return `${repository}:cache-dockerfile-${ownerUid}`
}

/** What the pod's build pushes. */
export function pushesOf(pod: Pod): LoggedBuild['pushes'] {
  const repository = pod.metadata.annotations?.[imageAnnotation] ?? ''
  return { image: `${repository}:${pod.metadata.name}`, cache: cacheTag(repository, ownerUidOf(pod, 'RemoteSync')) }
}

function sourceContainer({ source }: BuildRequest, image: string): BuildContainer {
  return {
    name: containers.source,
    image,
    command: ['build-source'],
    env: environment({ SOURCE_URL: source.url, SOURCE_COMMIT: source.commit }),
    securityContext: restricted,
    resources: small('512Mi'),
    volumeMounts: [mount('workspace', folders.workspace), mount('source-temporary', folders.temporary)],
  }
}

/**
 * Kubernetes ends it when the container `build` has ended
 * (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/).
 */
function daemonContainer(request: BuildRequest, { image, registry }: BuildkitSettings, plainHttp: boolean): BuildContainer {
  const { cpu, memory, ephemeralStorage } = { ...defaults, ...request.resources }
  return {
    name: containers.daemon,
    image,
    restartPolicy: 'Always',
    command: ['build-daemon'],
    env: environment({ REGISTRY_HOST: registry.split('/')[0] ?? '', REGISTRY_PLAIN_HTTP: String(plainHttp) }),
    securityContext: userNamespace,
    resources: {
      requests: { cpu, memory: '256Mi', 'ephemeral-storage': '256Mi' },
      limits: { memory, 'ephemeral-storage': ephemeralStorage },
    },
    volumeMounts: [mount('state', folders.state), mount('socket', folders.socket)],
  }
}

function buildContainer(request: BuildRequest, settings: BuildkitSettings): BuildContainer {
  const { source, secrets } = request
  const credential = settings.credential === undefined ? {} : { DOCKER_CONFIG: folders.credential }
  return {
    name: containers.build,
    image: settings.image,
    command: ['build-image'],
    args: literalWords(buildArguments(request, settings)),
    env: environment({ SUB_PATH: source.subPath ?? '', ...credential }),
    securityContext: restricted,
    resources: small('512Mi'),
    volumeMounts: [
      mount('workspace', folders.workspace, true),
      mount('socket', folders.socket),
      mount('build-temporary', folders.temporary),
      ...(settings.credential === undefined ? [] : [mount('credential', folders.credential, true)]),
      ...(secrets.length === 0 ? [] : [mount('secrets', folders.secrets, true)]),
    ],
  }
}

/** The options of `buildctl build` that differ between builds. Each is one argument: no shell reads them. */
function buildArguments(request: BuildRequest, settings: BuildkitSettings): readonly string[] {
  const { dockerfile, env, owner } = request
  const repository = repositoryOf(request, settings)
  const cache = `ref=${cacheTag(repository, owner.uid)}`
  const { path = 'Dockerfile', args = [], target } = dockerfile ?? {}
  return [
    `--opt=filename=${path}`,
    ...(target === undefined ? [] : [`--opt=target=${target}`]),
    // Build arguments of the Dockerfile's own field win over variables of the build of the same name.
    ...[...env, ...args]
      .filter(({ name }) => !name.startsWith(ofBuilder))
      .map(({ name, value }) => `--opt=build-arg:${name}=${value}`),
    `--output=type=image,name=${repository}:${request.key.name},push=true`,
    `--import-cache=type=registry,${cache}`,
    `--export-cache=type=registry,mode=max,ignore-error=true,${cache}`,
  ]
}

/** `plainHttp`: the registry does not speak TLS. */
export function buildkitPod(request: BuildRequest, settings: BuildkitSettings, plainHttp: boolean): BuildPod {
  const { timeoutSeconds, secrets } = request
  const { ephemeralStorage } = { ...defaults, ...request.resources }
  const { image, credential, serviceAccount } = settings
  const emptyDir = (name: string, sizeLimit: string): object => ({ name, emptyDir: { sizeLimit } })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: buildPodMetadata(request, podLabel, repositoryOf(request, settings)),
    spec: {
      ...podOfBuild(serviceAccount, timeoutSeconds),
      securityContext: { runAsNonRoot: true },
      initContainers: [sourceContainer(request, image), daemonContainer(request, settings, plainHttp)],
      containers: [buildContainer(request, settings)],
      volumes: [
        emptyDir('workspace', maxSource),
        emptyDir('state', ephemeralStorage),
        emptyDir('socket', '16Mi'),
        emptyDir('source-temporary', maxSource),
        emptyDir('build-temporary', '256Mi'),
        ...(credential === undefined ? [] : [credentialVolume('credential', credential)]),
        // The pod waits until it exists.
        ...(secrets.length === 0 ? [] : [secretVolume('secrets', buildSecretName(request.key.name))]),
      ],
    },
  }
}
