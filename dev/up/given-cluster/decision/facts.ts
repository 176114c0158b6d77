// What `make up` reads of a cluster of the user's before it decides. Nothing of it changes the cluster.
import type { Mode } from '../../mode.ts'

/** Of MutatingAdmissionPolicies, the newest first. */
export const mutationVersions = ['v1', 'v1beta1'] as const
export type MutationVersion = (typeof mutationVersions)[number]

export type ClassFact = { readonly name: string; readonly isDefault: boolean }
export type NodeFact = { readonly name: string; readonly ready: boolean; readonly architecture: string }

export type RegistryFact =
  /** No registry was named. */
  | { readonly state: 'unknown' }
  | { readonly state: 'unreachable'; readonly why: string }
  | { readonly state: 'open' }
  /** It wants a credential; `accepted`: it takes ours. */
  | {
      readonly state: 'closed'
      readonly accepted: boolean
      readonly why?: string
      /** Where it sends clients without a credential for tokens. */
      readonly realm?: string
    }

export type RightFact = { readonly verb: string; readonly resource: string; readonly group: string; readonly namespace?: string }

export type Facts = {
  /** Such as `v1.35.4`. */
  readonly version: string
  /** The newest version in which the cluster serves MutatingAdmissionPolicies; undefined when it serves none. */
  readonly mutations: MutationVersion | undefined
  readonly nodes: readonly NodeFact[]
  /** Nodes whose processes one pod may use up, and those that do not say. */
  readonly podPids: { readonly unlimited: readonly string[]; readonly unknown: readonly string[] }
  readonly ingressClasses: readonly ClassFact[]
  readonly storageClasses: readonly ClassFact[]
  readonly apiServer: {
    /** In the kubeconfig. */
    readonly url: string
    /** Endpoints of the Service `kubernetes`. */
    readonly addresses: readonly string[]
    readonly port: number
  }
  readonly kpack: boolean
  /** Of the name in the settings. */
  readonly clusterBuilder: 'absent' | 'ours' | 'foreign'
  /** The namespace sekisho-system. */
  readonly namespace: 'absent' | 'labelled' | 'foreign'
  readonly form: Mode | undefined
  /** The authority by which the platform that runs was made (settings.ts of the overlay); undefined when none runs. */
  readonly installedBy: 'nobody' | 'us' | 'others'
  /** Names of ClusterGitHubApps; undefined when the kind does not exist. */
  readonly githubApps: readonly string[] | undefined
  /** Names of Secrets in sekisho-system that the settings name and that exist. */
  readonly secrets: readonly string[]
  readonly registry: RegistryFact
  /** That of the platform's own image; undefined when it is the same. */
  readonly platformRegistry: RegistryFact | undefined
  /** Rights that the user lacks, by SelfSubjectAccessReview. */
  readonly refused: readonly RightFact[]
  /** What could not be read, with the answer. */
  readonly unreadable: readonly string[]
  /** The authority that a registry with our token server must trust. */
  readonly registryAuthorityFile: string
}
