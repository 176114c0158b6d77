// The port to what gives an image another run image without building it: the layers that the application brought stay, those of
// the operating system below them are exchanged. No code of the tenant runs, and no source is read. A rebase is a build like
// others to its queue, its log and its end: the Builder observes and cancels it.
import type { BuildKey, BuildOwner, BuiltBy, StartOutcome } from './builder.ts'

export type RebaseRequest = {
  readonly key: BuildKey
  readonly owner: BuildOwner
  readonly application: string
  /** By digest, as the last build pushed it. */
  readonly image: string
  /** From which it was built. */
  readonly commit: string
  /** The name of one of the builders that a platform admin configured; the platform's default when absent. */
  readonly builder?: string
  /** The id of the stack of the builder that built the image. */
  readonly stack: string
}

/** What a builder is, and the digest of the run image on which it builds now. */
export type BuilderBase = BuiltBy & { readonly runImage: string }

export type RebaseOutcome =
  | StartOutcome
  /** Another try would have the same answer. */
  | { readonly kind: 'impossible'; readonly message: string }

export type Rebaser = {
  /** Of the builder of this name, as in a RebaseRequest; undefined while that is not known. */
  readonly baseOf: (builder: string | undefined) => BuilderBase | undefined
  /** Idempotent: `started` also when this owner's rebase of that name exists already. Throws KubeError where a retry may help. */
  readonly start: (request: RebaseRequest) => Promise<RebaseOutcome>
}

/** Where no image has a run image, or the platform leaves them as they are. */
export const noRebaser: Rebaser = {
  baseOf: () => undefined,
  start: () => Promise.resolve({ kind: 'impossible', message: 'images are not rebased on this platform' }),
}
