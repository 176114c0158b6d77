// The messages between the test and the process under test. Data only.

/** The component of the product that a process loads; it runs no other. */
export type Component = 'controllers' | 'broker' | 'data-services'

export type RunSettings = {
  /** The settings, by the names of the environment variables. */
  readonly environment: Readonly<Record<string, string>>
  /** How far the clock of this run is ahead. */
  readonly aheadMilliseconds: number
  /** How many times as fast as time it runs: waits of the product take as much less. */
  readonly clockRate: number
}

export type ToSubject = { readonly kind: 'start'; readonly settings: RunSettings } | { readonly kind: 'stop' }

export type FromSubject =
  /** Its modules are loaded; it waits for `start`. */
  | { readonly kind: 'loaded' }
  /** Caches are synced, controllers run. */
  | { readonly kind: 'started' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly message: string }
