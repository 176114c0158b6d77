// What an admission rule is: the requests that it matches, and one check written twice, in TypeScript for the webhook (clear
// messages) and in CEL for a ValidatingAdmissionPolicy (holds while all our processes are down). The attack matrix
// (test/attack) proves that both agree, and that everything stays refused while the webhook is down.
import type { ResourceType } from '../api/resource.ts'
import type { PlatformIdentities } from './identities.ts'
import type { AdmissionRequest, Operation } from './review.ts'

export { celList, celText } from '../lib/text/cel.ts'

/**
 * `tenant-namespaces`: those with the tenant label, which only the platform can set (namespace-guard).
 * `application-namespaces`: those of them in which tenants have roles, not those for builds; `build-namespaces`: those.
 * Built-in kinds are matched only there and in the platform's own namespace, so that writes of others do not depend on the
 * webhook.
 */
export type Scope = 'everywhere' | 'tenant-namespaces' | 'application-namespaces' | 'build-namespaces' | 'platform-namespace'

/**
 * CEL that is true for platform admins: whoever may `administer` the virtual resource `platforms` in the whole cluster, by the
 * ClusterRole `sekisho:platform-admin` or as a cluster administrator. A right in one namespace does not count.
 */
export const administers = "authorizer.group('sekisho.dev').resource('platforms').check('administer').allowed()"

/** Requests by group, resource and operation. */
export type Match = {
  readonly group: string
  /** Plural names; `pods/ephemeralcontainers` or `installations/*` for subresources, which a plain name never covers. */
  readonly resources: readonly string[]
  readonly operations: readonly Operation[]
  /** Leaves out resources without a namespace, which a policy is otherwise asked about whatever its scope. */
  readonly namespacedOnly?: true
}

/**
 * The request passes when `expression` is true; otherwise the message is shown, or the text that `messageExpression` computes.
 */
export type Validation = { readonly expression: string } & (
  | { readonly message: string; readonly messageExpression?: never }
  | { readonly messageExpression: string; readonly message?: never }
)

/**
 * The identities that are not of the platform and that rules may exempt: Kubernetes' own, and operators that act on what
 * tenants write.
 */
export type DeputyIdentities = 'kubernetesPrefixes' | 'reapers' | 'endpointControllers' | 'volumeBinders' | 'certificateManagers'

/**
 * What a rule lets a controller do that it refuses to tenants. A tenant's object may be what makes the controller do it, so the
 * rule says which part of which object that is (`template`), and which rules judge it there (`judgedBy`); no `follows` says
 * that no tenant decides the content.
 */
export type Exemption = {
  /** What the controller does there. */
  readonly does: string
  readonly follows: readonly Followed[]
}

/** A part of an object of a tenant that decides what the controller does; `harmless` says why no rule has to judge it. */
export type Followed = { readonly template: string } & (
  | { readonly judgedBy: readonly [string, ...string[]]; readonly harmless?: never }
  | { readonly harmless: string; readonly judgedBy?: never }
)

/** One rule in both forms. */
export type Rule = {
  readonly name: string
  /** The attack or accident that the rule stops. */
  readonly stops: string
  readonly scope: Scope
  /**
   * True: platform admins may do what the rule refuses to others. Only the API server knows who they are (`administers`), so
   * policies ask it, and their requests are not sent to the webhook; `check` never sees them.
   */
  readonly administratorsMay?: true
  /** Every exemption of an identity that is not of the platform (exemptions.test.ts); docs/reference/exemptions.md shows them. */
  readonly exempts?: Readonly<Partial<Record<DeputyIdentities, Exemption>>>
  readonly matches: readonly Match[]
  /** Limits the requests that are sent to the webhook, by CEL over the request; must never depend on what a tenant can write. */
  readonly webhookCondition?: (identities: PlatformIdentities) => { readonly name: string; readonly expression: string }
  /** The message of the refusal; undefined when the request passes. Pure; throwing counts as a refusal. */
  readonly check: (request: AdmissionRequest, identities: PlatformIdentities) => string | undefined
  /**
   * The same check for the API server itself. Absent: CEL cannot say it, so only the webhook judges, and without it the request
   * is refused (failurePolicy Fail). Present: it says everything that `check` says, so the webhook may be down (Ignore); the
   * attack matrix proves it.
   */
  readonly policy?: (identities: PlatformIdentities) => {
    readonly variables: readonly { readonly name: string; readonly expression: string }[]
    readonly validation: Validation
  }
}

/** A rule that only the API server can judge, or must: what our own identities may do must not depend on a process of ours. */
export type PolicyRule = Pick<Rule, 'name' | 'stops' | 'scope' | 'administratorsMay' | 'exempts' | 'matches'> & {
  readonly policy: NonNullable<Rule['policy']>
  /** The user names whose requests the policy looks at; everybody's when absent. */
  readonly users?: (identities: PlatformIdentities) => readonly string[]
  /**
   * The policy is evaluated for each object of this kind in the namespace of the request, as `params`; without any it lets the
   * request pass.
   */
  readonly param?: Pick<ResourceType, 'apiVersion' | 'kind'>
  /** Where these objects are: in the namespace of the request (default), in that of the platform, or in either. */
  readonly paramsIn?: 'platform' | 'both'
  /** Only requests for which this is true; must never depend on what a tenant can write. */
  readonly condition?: { readonly name: string; readonly expression: string }
}

/** True when the match includes the request; a plain resource name never includes subresources. */
export function covers(match: Match, request: AdmissionRequest): boolean {
  if (match.group !== request.group || !match.operations.includes(request.operation)) return false
  const { resource, subResource } = request
  return subResource === undefined
    ? match.resources.includes(resource)
    : match.resources.includes(`${resource}/${subResource}`) || match.resources.includes(`${resource}/*`)
}

/** Matches in the form that policies, mutations and webhook registrations share. */
export function resourceRules(matches: readonly Match[]): readonly Readonly<Record<string, unknown>>[] {
  return matches.map(match => ({
    apiGroups: [match.group],
    apiVersions: ['*'],
    resources: match.resources,
    operations: match.operations,
    scope: match.namespacedOnly ? 'Namespaced' : '*',
  }))
}
