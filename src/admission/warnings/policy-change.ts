// What a review says about a change of a GrantPolicy or ClusterGrantPolicy: the policy before and after, and what the platform
// counted for it. Reads unchecked JSON; never throws.

import type { GrantCounts } from '../../api/github/grant-policy/counts.ts'
import { clusterGrantPolicy, grantPolicy, ruleEffects } from '../../api/github/grant-policy.ts'
import { integerAt, type JsonObject, objectAt, objectsAt, textAt } from '../../lib/json/json-value.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import type { AdmissionRequest } from '../review.ts'

export type Effect = (typeof ruleEffects)[number]

export type PolicyState = {
  readonly isAudit: boolean
  readonly replacesBuiltIn: boolean
  readonly rules: ReadonlyMap<string, JsonObject>
}

export type Counted = GrantCounts & { readonly ofRules: ReadonlyMap<string, GrantCounts> }

export type PolicyChange = {
  readonly kind: string
  readonly name: string
  /** Absent for a new policy. */
  readonly before?: PolicyState
  /** Absent for one that is deleted. */
  readonly after?: PolicyState
  /** Absent where the platform has not counted yet. */
  readonly counted?: Counted
}

/** What a request changes about a policy; undefined when that is nothing. */
export function policyChange({ resource, name, object, oldObject }: AdmissionRequest): PolicyChange | undefined {
  if (object && oldObject && sameJson(object['spec'], oldObject['spec'])) return undefined
  const kind = [grantPolicy, clusterGrantPolicy].find(({ plural }) => plural === resource)?.kind
  if (kind === undefined) return undefined
  const named = name ?? textAt(objectAt(object ?? oldObject, 'metadata'), 'name') ?? ''
  const counted = countedIn(objectAt(oldObject, 'status', 'grants'))
  return {
    kind,
    name: named,
    ...(oldObject && { before: stateOf(oldObject) }),
    ...(object && { after: stateOf(object) }),
    ...(counted && { counted }),
  }
}

function stateOf(policy: JsonObject): PolicyState {
  const spec = objectAt(policy, 'spec')
  return {
    isAudit: spec?.['mode'] === 'Audit',
    replacesBuiltIn: spec?.['builtInRules'] === 'Replace',
    rules: new Map(objectsAt(spec, 'rules').map(rule => [textAt(rule, 'name') ?? '', rule])),
  }
}

function countsIn(value: JsonObject): GrantCounts {
  const count = (field: keyof GrantCounts): number => Math.max(0, integerAt(value, field) ?? 0)
  return { approved: count('approved'), waiting: count('waiting'), denied: count('denied') }
}

function countedIn(grants: JsonObject | undefined): Counted | undefined {
  if (grants === undefined) return undefined
  const ofRules = new Map(objectsAt(grants, 'rules').map(rule => [textAt(rule, 'name') ?? '', countsIn(rule)]))
  return { ...countsIn(grants), ofRules }
}

/** What a version does not know denies, as in the decision. */
export function effectOf(rule: JsonObject): Effect {
  return ruleEffects.find(effect => effect === rule['effect']) ?? 'Deny'
}
