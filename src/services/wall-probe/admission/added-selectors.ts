// Selectors that a cloud adds to registrations of webhooks, so that they are not called for its own namespaces (AKS: those with
// the label `control-plane`; GKE Autopilot: some by name). Such a difference is permanent, and is none when it leaves out nothing
// that a rule protects. Pure.
// Source: https://learn.microsoft.com/en-us/azure/aks/faq#can-i-use-admission-controller-webhooks-on-aks
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-namespaceselector
import { isJsonObject, type JsonObject, listAt, objectsAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'

export type Labels = Readonly<Record<string, string>>

type Requirement = { readonly key: string; readonly operator: string; readonly values: readonly string[] }

/**
 * `found`, a decisive part with webhooks by name, without what was added to their namespace selectors, where every one of the
 * namespaces still matches.
 */
export function withoutAddedSelectors(wanted: unknown, found: unknown, namespaces: readonly Labels[]): unknown {
  const [shipped, standing] = [webhooksOf(wanted), webhooksOf(found)]
  if (shipped === undefined || standing === undefined || !isJsonObject(found)) return found
  const entries = Object.entries(standing).map(([name, webhook]) => {
    const other = Object.hasOwn(shipped, name) ? shipped[name] : undefined
    return [name, isJsonObject(webhook) && isJsonObject(other) ? withSelectorOf(other, webhook, namespaces) : webhook] as const
  })
  return { ...found, webhooks: Object.fromEntries(entries) }
}

function webhooksOf(part: unknown): JsonObject | undefined {
  const webhooks = isJsonObject(part) ? part['webhooks'] : undefined
  return isJsonObject(webhooks) ? webhooks : undefined
}

function withSelectorOf(wanted: JsonObject, found: JsonObject, namespaces: readonly Labels[]): JsonObject {
  const [shipped, standing] = [requirementsOf(wanted), requirementsOf(found)]
  const added = standing.filter(one => !shipped.some(other => sameJson(one, other)))
  const isWhole = shipped.every(one => standing.some(other => sameJson(one, other)))
  if (added.length === 0 || !isWhole || !added.every(one => namespaces.every(labels => matches(one, labels)))) return found
  const { namespaceSelector: _, ...rest } = found
  const selector = wanted['namespaceSelector']
  return selector === undefined ? rest : { ...rest, namespaceSelector: selector }
}

function requirementsOf(webhook: JsonObject): readonly Requirement[] {
  const selector = webhook['namespaceSelector']
  if (!isJsonObject(selector)) return []
  const { matchLabels } = selector
  return [
    ...Object.entries(isJsonObject(matchLabels) ? matchLabels : {}).map(([key, value]) => ({
      key,
      operator: 'In',
      values: [String(value)],
    })),
    ...objectsAt(selector, 'matchExpressions').map(one => ({
      key: String(one['key']),
      operator: String(one['operator']),
      values: listAt(one, 'values').map(String),
    })),
  ]
}

/** False for what is not known: then the difference is named. */
function matches({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      return false
  }
}
