// What the test and the process under test say to each other. Data only.

/** A process loads one component of the product and has lives of that component only. */
export type Component = 'controllers' | 'broker'

export type Life = {
  /** The settings, by the names of the environment variables. */
  readonly environment: Readonly<Record<string, string>>
  /** How far the clock of this life is ahead. */
  readonly aheadMilliseconds: number
}

export type ToSubject = { readonly kind: 'begin'; readonly life: Life } | { readonly kind: 'end' }

export type FromSubject =
  /** Its modules are loaded; it waits for a life. */
  | { readonly kind: 'loaded' }
  /** Caches are synced, controllers run. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly message: string }
