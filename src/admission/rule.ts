// What an admission rule is: which requests it looks at, and the same judgement twice, as TypeScript for the webhook (clear messages)
// and as CEL for a ValidatingAdmissionPolicy (holds when all our processes are down). One matrix of requests proves that both agree.
import type { PlatformIdentities } from './identities.ts'
import type { AdmissionRequest, Operation } from './review.ts'

export type Match = {
  readonly group: string
  /** Plural names; `pods/ephemeralcontainers` or `installations/*` for subresources, which a plain name never covers. */
  readonly resources: readonly string[]
  readonly operations: readonly Operation[]
}

/** `expression` must be true for the request to pass; exactly one of the two messages is shown when it is not. */
export type Validation = { readonly expression: string } & (
  | { readonly message: string; readonly messageExpression?: never }
  | { readonly messageExpression: string; readonly message?: never }
)

export type Rule = {
  readonly name: string
  /** The attack or accident that it stops. */
  readonly stops: string
  /**
   * `tenant-namespaces`: those with the tenant label, which only the platform can set (namespace-guard). Kinds that the whole cluster
   * uses are judged only there, so that a dead webhook stops tenants and nobody else.
   */
  readonly scope: 'everywhere' | 'tenant-namespaces'
  readonly matches: readonly Match[]
  /** Narrows what is sent to the webhook, by CEL over the request; must never depend on what a tenant can write. */
  readonly webhookCondition?: { readonly name: string; readonly expression: string }
  /** The message of the refusal, or undefined to let the request pass. Pure; throwing counts as a refusal. */
  readonly check: (request: AdmissionRequest, identities: PlatformIdentities) => string | undefined
  readonly policy: (identities: PlatformIdentities) => {
    readonly variables: readonly { readonly name: string; readonly expression: string }[]
    readonly validation: Validation
  }
}

export function covers(match: Match, request: AdmissionRequest): boolean {
  if (match.group !== request.group || !match.operations.includes(request.operation)) return false
  const { resource, subResource } = request
  return subResource === undefined
    ? match.resources.includes(resource)
    : match.resources.includes(`${resource}/${subResource}`) || match.resources.includes(`${resource}/*`)
}

/** A CEL list of texts. */
export function celList(values: readonly string[]): string {
  return `[${values.map(celText).join(', ')}]`
}

export function celText(value: string): string {
  return `'${value.replace(/[\\']/g, character => `\\${character}`)}'`
}
