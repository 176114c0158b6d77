// The port to what gives an image another run image without building it: the layers that the application brought stay, those of the operating
// system below them are exchanged. No code of the tenant runs, and no source is read. A rebase is a build like others to its queue, its log and its
// end: the Builder observes and cancels it.
import type { BuildKey, BuildOwner, StartOutcome } from './builder.ts'

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
}

export type RebaseOutcome =
  | StartOutcome
  /** Another try would have the same answer. */
  | { readonly kind: 'impossible'; readonly message: string }

export type Rebaser = {
  /** The run image on which the builder of this name builds now, by digest alone; undefined while that is not known. */
  readonly runImageOf: (builder: string | undefined) => string | undefined
  /** Idempotent: `started` also when this owner's rebase of that name exists already. Throws KubeError where a retry may help. */
  readonly start: (request: RebaseRequest) => Promise<RebaseOutcome>
}

/** Where no image has a run image, or the platform leaves them as they are. */
export const noRebaser: Rebaser = {
  runImageOf: () => undefined,
  start: () => Promise.resolve({ kind: 'impossible', message: 'images are not rebased on this platform' }),
}

/** `sha256:…` of a reference; undefined without one. */
export function digestOf(reference: string | undefined): string | undefined {
  return /@(sha256:[0-9a-f]{64})$/.exec(reference ?? '')?.[1]
}
