// What `make up` will do on a cluster of the user's, and what stands in its way.
import type { Mode } from '../../mode.ts'
import type { MutationVersion } from './facts.ts'

export type Missing = { readonly what: string; readonly cure: string }

export type GitHubPlan =
  | { readonly kind: 'emulator'; readonly address: string }
  | { readonly kind: 'app'; readonly name: string; readonly clientSecret: string; readonly webhookSecret: string }

export type DatabasePlan = { readonly ownerUrl: string; readonly authority: string | null }

export type RegistryPlan = {
  readonly reference: string
  readonly authentication: 'token-server' | 'secret' | 'none'
  /** Of the platform's own image. */
  readonly platform: string
  /** For pods of the platform. */
  readonly pullSecret: string | null
  /** Where the registry sends clients without a credential for tokens, when the platform issues them. */
  readonly realm: URL | null
}

export type BrokerPlan = {
  readonly url: URL
  readonly expose: 'LoadBalancer' | 'none'
  /** Null: signed by our own authority. */
  readonly certificate: { readonly certificate: string; readonly key: string } | null
}

export type Plan = {
  readonly mode: Mode
  readonly registry: RegistryPlan
  readonly broker: BrokerPlan
  readonly ingress: { readonly className: string; readonly from: string; readonly applicationUrl: URL }
  /** Null: the form needs none. */
  readonly storageClass: string | null
  /** Null: the form has an embedded database. */
  readonly database: DatabasePlan | null
  readonly apiServer: { readonly url: string; readonly port: number; readonly from: readonly string[] }
  readonly github: GitHubPlan
  /** Null: every account waits. */
  readonly accounts: string | null
  readonly builder: { readonly name: string; readonly make: boolean }
  /** Settings of the platform that the user names, none of which `make up` decides. */
  readonly platformSettings: Readonly<Record<string, string>>
  /** The version in which the cluster serves MutatingAdmissionPolicies. */
  readonly mutations: MutationVersion
}

export type Decision = {
  readonly missing: readonly Missing[]
  /** Only when nothing is missing. */
  readonly plan: Plan | undefined
}
