// The port to whatever builds images: it turns one commit into one image, in the tenant's build namespace.
// `buildpacks/buildpacks-builder.ts` and `kpack/kpack-builder.ts` build with buildpacks, `buildkit/buildkit-builder.ts` from
// Dockerfiles, and `choose-builder.ts` makes one of all. A builder never gets a GitHub token.

import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import type { ObjectKey } from '../../api/resource.ts'

/** Names one build: `namespace` is the tenant's build namespace. */
export type BuildKey = { readonly namespace: string; readonly name: string }

/** The object for which an image is built. Its `kind` lets several kinds own builds; ownership is decided by the uid. */
export type BuildOwner = { readonly kind: string; readonly namespace: string; readonly name: string; readonly uid: string }

/** How an image is built: the values of `spec.build.strategy` of a RemoteSync. */
export type BuildStrategy = RemoteSync['spec']['build']['strategy']

/** Kubernetes quantities; what is absent is the builder's default. */
export type BuildResources = { readonly cpu?: string; readonly memory?: string; readonly ephemeralStorage?: string }

export type BuildRequest = {
  readonly key: BuildKey
  readonly owner: BuildOwner
  readonly application: string
  readonly strategy: BuildStrategy
  readonly resources: BuildResources
  /** Names of AppSecrets in the owner's namespace, whose values the build gets; never part of the image. */
  readonly secrets: readonly string[]
  /** The name of one of the builders that a platform admin configured; the platform's default when absent. */
  readonly builder?: string
  readonly source: { readonly url: string; readonly commit: string; readonly subPath?: string }
  /** Which attempt to build this commit it is, starting with 1. */
  readonly attempt: number
  readonly env: readonly { readonly name: string; readonly value: string }[]
  /** For the strategy Dockerfile. */
  readonly dockerfile?: {
    readonly path: string
    readonly args?: readonly { readonly name: string; readonly value: string }[]
    readonly target?: string
  }
  readonly timeoutSeconds: number
  /** The image of the last successful build, whose layers are reused. */
  readonly previousImage?: string
}

export type StartOutcome =
  | { readonly kind: 'started' }
  /** The build cannot be started now; the message says what has to change. */
  | { readonly kind: 'refused'; readonly message: string }

/** Which commit an image was built from, according to the image itself. */
export type CommitProof =
  | { readonly kind: 'proven'; readonly commit: string }
  /** The image names no commit, and will not. */
  | { readonly kind: 'absent'; readonly message: string }
  /** The image cannot be read now. */
  | { readonly kind: 'unreadable'; readonly message: string }

/** The builder as a platform admin configured it (the name of a ClusterBuilder, or an image), and the id of its stack. */
export type BuiltBy = { readonly name: string; readonly stack: string }

export type BuildState =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'running'
      /** The step in progress. */
      readonly step: string
      /** Whether the builder still has to read the source. */
      readonly needsSource: boolean
      /** No node has room for its pod. */
      readonly unscheduled?: boolean
      readonly startedAt?: string
      /** When a build that has not ended is given up. */
      readonly deadline: Date
    }
  | {
      readonly kind: 'succeeded'
      readonly image: string
      readonly proof: CommitProof
      /** The digest of the run image below it, where images have one. */
      readonly runImage?: string
      /** What built it, where another build can have a newer run image of the same. */
      readonly builder?: BuiltBy
      readonly startedAt?: string
    }
  | {
      readonly kind: 'failed'
      readonly step: string
      /** The last lines of the step's log, redacted and bounded. */
      readonly detail: string
      /** What a person needs to know, in one sentence, where the log says it (`src/services/builds/cause`). */
      readonly cause?: string
      /** What of the platform failed, in words, such as `the node was full`: the same build may succeed later. */
      readonly platformFailure?: string
      /** It ended before it had read the source: no code of the tenant ran, so the tenant did not cause the failure. */
      readonly sourceUnread: boolean
      /** The registry refused the builder's credential: the tenant cannot cure it. */
      readonly registryRefused: boolean
      /** The registry, or the token server of the platform, could not be reached: the same build may succeed later. */
      readonly registryUnreachable: boolean
      readonly startedAt?: string
    }
  | { readonly kind: 'timed-out'; readonly detail: string; readonly startedAt?: string }

/**
 * A build that has not ended. Builds are counted per `tenant`, which is the build namespace. `isRebase`: it only gives an image
 * another run image (`rebaser.ts`).
 */
export type RunningBuild = { readonly tenant: string; readonly name: string; readonly isRebase?: boolean }

/** A build of one owner. */
export type OwnedBuild = {
  readonly key: BuildKey
  readonly ended: boolean
  readonly createdAt?: string
  readonly isRebase?: boolean
}

/** A build as its log is read: which containers of which pod, and whose it is. Builds that are being deleted are among them. */
export type LoggedBuild = {
  /** The uid of the object that builds: the same name may be built again after a cancel. */
  readonly id: string
  readonly key: BuildKey
  readonly owner: BuildOwner
  readonly commit: string
  readonly attempt: number
  readonly createdAt: Date
  /** Undefined while there is none. */
  readonly pod: string | undefined
  /** The containers in the order in which they run. */
  readonly steps: readonly string[]
  /** Undefined while the build runs. */
  readonly result: 'Succeeded' | 'Failed' | 'Cancelled' | undefined
  /** Names of AppSecrets in the owner's namespace whose values must not be in the log. */
  readonly secrets: readonly string[]
  /** Other texts that must not be in the log, such as the address of the source. */
  readonly masked: readonly string[]
  /** The references by tag that it pushes: its image, and the cache of all builds of its owner. */
  readonly pushes: { readonly image: string; readonly cache: string }
}

/** Every function throws KubeError where a retry may help; all other results are outcomes. */
export type Builder = {
  /** Idempotent: `started` also when this owner's build of that name exists already. */
  readonly start: (request: BuildRequest) => Promise<StartOutcome>
  /** A build that belongs to another owner, or is being deleted, counts as absent. */
  readonly observe: (key: BuildKey, owner: BuildOwner) => Promise<BuildState>
  /** Ends the build and removes what it left. A build that does not exist is a success. */
  readonly cancel: (key: BuildKey) => Promise<void>
  /** The builds of one owner, newest first, whether or not they have ended. */
  readonly ofOwner: (owner: BuildOwner) => readonly OwnedBuild[]
  /**
   * The builds of all objects that have or had this kind and key, with the uid of each owner, except those that are being
   * deleted.
   */
  readonly ofKey: (kind: string, key: ObjectKey) => readonly { readonly key: BuildKey; readonly ownerUid: string }[]
  readonly running: () => readonly RunningBuild[]
  /** The builds that exist, whether or not they have ended. */
  readonly logged: () => readonly LoggedBuild[]
  /** Whether the build has been observed (ended or not): from then on `running` counts it. */
  readonly known: (key: BuildKey) => boolean
}
