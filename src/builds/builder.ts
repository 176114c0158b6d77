// What a builder is to the rest of the product: something that turns one commit into one image, in the tenant's build namespace.
// kpack.ts is the first; another builder implements this and nothing else changes. No builder ever gets a GitHub token.

/** Names one build: `namespace` is the tenant's build namespace. */
export type BuildKey = { readonly namespace: string; readonly name: string }

/** The RemoteSync on whose behalf it is built. */
export type BuildOwner = { readonly namespace: string; readonly name: string; readonly uid: string }

export type BuildRequest = {
  readonly key: BuildKey
  readonly owner: BuildOwner
  readonly application: string
  readonly source: { readonly url: string; readonly commit: string; readonly subPath?: string }
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly timeoutSeconds: number
  /** The image of the last success: its layers are used again. */
  readonly previousImage?: string
}

export type StartOutcome =
  /** Also when it existed already: starting twice is the same as starting once. */
  | { readonly kind: 'started' }
  /** It cannot be started now; the message says what has to change. */
  | { readonly kind: 'refused'; readonly message: string }

export type BuildState =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'running'
      /** The step under way. */
      readonly step: string
      /** Whether the builder still has to read the source. */
      readonly needsSource: boolean
      readonly startedAt?: string
      /** After this moment nothing may be expected of it any more. */
      readonly deadline: Date
    }
  | { readonly kind: 'succeeded'; readonly image: string; readonly commit: string; readonly startedAt?: string }
  /** `detail`: the step and the last lines of its log, redacted and bounded. */
  | {
      readonly kind: 'failed'
      readonly step: string
      readonly detail: string
      /** It ended before it had read the source: nothing of the tenant's has run, so the tenant cannot be at fault. */
      readonly sourceUnread: boolean
      readonly startedAt?: string
    }
  | { readonly kind: 'timed-out'; readonly detail: string; readonly startedAt?: string }

/** One build that has not ended. `tenant` is what builds are counted by: the build namespace. */
export type RunningBuild = { readonly tenant: string; readonly name: string }

/** Errors that may pass by themselves are thrown (KubeError); everything else is an outcome. */
export type Builder = {
  readonly start: (request: BuildRequest) => Promise<StartOutcome>
  readonly observe: (key: BuildKey, owner: BuildOwner) => Promise<BuildState>
  /** Ends it and removes what it left. Absent is done. */
  readonly cancel: (key: BuildKey) => Promise<void>
  /** The builds of one owner, newest first, whether or not they have ended. */
  readonly ofOwner: (owner: BuildOwner) => readonly { readonly key: BuildKey; readonly ended: boolean }[]
  readonly running: () => readonly RunningBuild[]
  /** Whether a build is known (ended or not): a slot reserved for it is not needed any more. */
  readonly known: (key: BuildKey) => boolean
}
