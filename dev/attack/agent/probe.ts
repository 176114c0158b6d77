// What the program asks the pod of globex to try, and what the pod answers. Shared by both; data only.

export type Probe =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'dns'; readonly name: string }
  | {
      readonly kind: 'http'
      readonly url: string
      readonly method?: string
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
      /** How long to wait for the answer; as long as for a connection, when not given. */
      readonly milliseconds?: number
    }
  | { readonly kind: 'environment' }

export type ProbeResult =
  | { readonly kind: 'connected' }
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly text: string
      readonly headers: Readonly<Record<string, string>>
    }
  | { readonly kind: 'resolved'; readonly addresses: readonly string[] }
  | { readonly kind: 'text'; readonly text: string }
  /** Nothing came back in time. */
  | { readonly kind: 'timeout' }
  /** The connection was refused, or there is no route to the target. */
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'failed'; readonly code: string }
