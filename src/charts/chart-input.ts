// The input and output of charts: the contract between an Application and the chart that turns it into objects.
// Plain JSON in both directions (it crosses a thread); a chart never sees the cluster, a credential or the clock.

/** One process of the Application, with the defaults of its schema filled in. */
export type ChartProcess = {
  readonly name: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly port?: number
  readonly replicas: number
  readonly healthPath?: string
  readonly cpu: string
  readonly memory: string
}

/** The first argument of a chart function. */
export type ChartInput = {
  readonly name: string
  readonly namespace: string
  readonly image: string
  /** The commit that the image was built from, when a build set it. */
  readonly commit?: string
  readonly processes: readonly ChartProcess[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly attributes: Readonly<Record<string, string>>
  /** Host names under which the process `web` answers; already checked against those of other Applications. */
  readonly hosts: readonly string[]
  readonly ingressClassName: string
  /** Whether the ingress serves these hosts over TLS. */
  readonly tls: boolean
  /** The Secrets with which its pods pull the image; absent when the registry asks for no credential. */
  readonly imagePullSecrets?: readonly string[]
}

/** Where a chart's code comes from. `revision` changes exactly when the code does. */
export type ChartSource =
  | { readonly kind: 'built-in'; readonly name: string; readonly revision: string }
  | { readonly kind: 'module'; readonly code: string; readonly revision: string }

/** The result of one rendering. `message` is one line for people. */
export type ChartOutcome =
  | {
      readonly kind: 'rendered'
      readonly objects: readonly unknown[]
      /** The length of their JSON text, in UTF-16 units. */
      readonly length: number
    }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'timed-out'; readonly message: string }

/** Main thread → worker. `check` loads the chart and renders nothing. */
export type WorkerRequest = {
  readonly id: number
  readonly chart: ChartSource
  readonly input: ChartInput | 'check'
  /** The longest JSON text that the worker may answer with, in UTF-16 units. */
  readonly longestAnswer: number
}

/** Worker → main thread. Objects travel as JSON text: its size is known before it is parsed, and no prototype crosses. */
export type WorkerAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'rendered'; readonly id: number; readonly json: string }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string }
