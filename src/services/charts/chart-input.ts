// The input and output of charts: the contract between an Application and the chart that turns it into objects.
// Plain JSON in both directions (it crosses a thread or a process); a chart never sees the cluster, a credential or the clock.
import type { Application } from '../../api/apps/application.ts'

type Spec = Application['spec']

/** One process of the Application, with the defaults of its schema filled in; `command` is what the container runs. */
export type ChartProcess = NonNullable<Spec['processes']>[number]

/** One process that runs by a schedule. */
export type ChartCron = NonNullable<Spec['cron']>[number]

/** One volume of the Application. */
export type ChartVolume = NonNullable<Spec['volumes']>[number]

/**
 * The first argument of a chart function. What is optional is absent when the Application does not ask for it. The texts of
 * `env`, commands and args are written for pods (src/api/pods/literal.ts): there they arrive as the Application has them.
 */
export type ChartInput = {
  readonly name: string
  readonly namespace: string
  readonly image: string
  /** The commit that the image was built from, when a build set it. */
  readonly commit?: string
  /** Those of the spec, or those that were found in the image. */
  readonly processes: readonly ChartProcess[]
  readonly cron?: readonly ChartCron[]
  readonly volumes?: readonly ChartVolume[]
  /** Nothing is to run: no pods, no schedules. */
  readonly suspend?: boolean
  readonly env: NonNullable<Spec['env']>
  readonly envFrom?: NonNullable<Spec['envFrom']>
  readonly attributes: Readonly<Record<string, string>>
  /** Host names under which the process `web` answers; already checked against those of other Applications. */
  readonly hosts: readonly string[]
  readonly ingressClassName: string
  /** Whether the ingress serves these hosts over TLS. */
  readonly tls: boolean
  /** The certificate of the hosts when it is not the ingress's own: a Secret of the tenant, and who issues it. */
  readonly certificate?: { readonly secretName: string; readonly issuer?: { readonly name: string; readonly kind: string } }
  /** The Secrets with which its pods pull the image: the platform's, and those that the Application names; absent without any. */
  readonly imagePullSecrets?: readonly string[]
  /**
   * Annotations that the platform adds to the pod templates of Deployments, whatever the chart renders: they differ when
   * something that the pods refer to has another content, and so replace the pods.
   */
  readonly podAnnotations?: Readonly<Record<string, string>>
  /** The code is not trusted: the platform cuts its pods off from the tenant, whatever the chart renders. */
  readonly isolated?: boolean
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
  readonly maxAnswer: number
}

/** Main thread → process of one chart of a ConfigMap. */
export type ModuleRequest = {
  /** The answer begins with it: random, so that only the worker can answer. */
  readonly answerKey: string
  readonly code: string
  readonly input: ChartInput | 'check'
  readonly maxAnswer: number
}

/** Worker → main thread. Objects travel as JSON text: its size is known before it is parsed, and no prototype crosses. */
export type WorkerAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'rendered'; readonly id: number; readonly json: string }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string }
