// What a server-side dry run warns of when a GrantPolicy or ClusterGrantPolicy is written or deleted: how many RepositoryGrants
// its rules decided, by what the platform counted in its status, and how to learn which. Pure; refuses nothing.
// Bounds of warnings: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#response

import type { GrantCounts } from '../../api/github/grant-policy/counts.ts'
import { clusterGrantPolicy, grantPolicy, ruleEffects } from '../../api/github/grant-policy.ts'
import type { JsonObject } from '../../lib/json/json-value.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { printable } from '../../lib/text/printable.ts'
import type { AdmissionRequest } from '../review.ts'
import type { Match } from '../rule.ts'
import { effectOf, type PolicyChange, type PolicyState, policyChange } from './policy-change.ts'

/** The requests that are sent. */
export const warnedMatches: readonly Match[] = [
  {
    group: grantPolicy.group,
    resources: [grantPolicy.plural, clusterGrantPolicy.plural],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
  },
]

/** No other write waits for the webhook. */
export const isDryRun: { readonly name: string; readonly expression: string } = {
  name: 'is-a-dry-run',
  expression: 'request.dryRun == true',
}

/** Longer ones may be cut by the API server. */
const maxWarning = 120
const maxName = 40
const maxRules = 3

/** In the order in which they are shown; none outside a dry run, and none for what changes no rule. */
export function policyWarnings(request: AdmissionRequest): readonly string[] {
  if (request.dryRun !== true) return []
  const change = policyChange(request)
  return change === undefined ? [] : [...warningsOf(change), whomText(change)].map(text => cut(printable(text), maxWarning))
}

function warningsOf(change: PolicyChange): readonly string[] {
  const { before, after } = change
  if (before?.isAudit !== false && after?.isAudit !== false)
    return [`${named(change)} in mode Audit decides nothing: no grant changes.`]
  if (before === undefined)
    return [`${named(change)} is new: the grants that it decides are not counted yet.`, ...changesOf(change)]
  return [countedText(change, before), ...(after === undefined ? [] : changesOf(change))]
}

function named({ kind, name }: PolicyChange): string {
  return `${kind} ${cut(name, maxName)}`
}

function countedText(change: PolicyChange, { isAudit }: PolicyState): string {
  const what = isAudit ? `Grants that ${named(change)} would decide` : `Grants that ${named(change)} decided`
  return `${what}: ${change.counted === undefined ? 'not counted yet' : countsText(change.counted)}.`
}

function countsText({ approved, waiting, denied }: GrantCounts): string {
  const some = Object.entries({ approved, waiting, denied }).filter(([, count]) => count > 0)
  return some.length === 0 ? 'none' : some.map(([decision, count]) => `${count} ${decision}`).join(', ')
}

function changesOf({ before, after, counted }: PolicyChange): readonly string[] {
  if (after === undefined) return []
  const modes = before !== undefined && before.isAudit !== after.isAudit ? [modeText(after)] : []
  const builtIn = (before?.replacesBuiltIn ?? false) === after.replacesBuiltIn ? [] : [builtInText(after)]
  const ofRules = (name: string): GrantCounts => counted?.ofRules.get(name) ?? { approved: 0, waiting: 0, denied: 0 }
  const ended = [...(before?.rules ?? [])].flatMap(([name, rule]) => endedRule(name, rule, after))
  const shown = ended
    .filter(({ name }) => total(ofRules(name)) > 0)
    .toSorted((a, b) => total(ofRules(b.name)) - total(ofRules(a.name)))
  const first = shown.slice(0, maxRules)
  const others = ended.length - first.length
  return [
    ...modes,
    ...builtIn,
    ...first.map(({ name, how }) => `Rule ${cut(name, maxName)} ${how}; grants that it decided: ${countsText(ofRules(name))}.`),
    ...(others > 0 ? [`Other rules that change or go, with fewer grants or none: ${others}.`] : []),
    ...newRulesTexts(before, after),
  ]
}

function endedRule(
  name: string,
  rule: JsonObject,
  { rules }: PolicyState,
): readonly { readonly name: string; readonly how: string }[] {
  const now = rules.get(name)
  if (now === undefined) return [{ name, how: 'goes' }]
  return sameJson(now, rule) ? [] : [{ name, how: 'changes' }]
}

function total({ approved, waiting, denied }: GrantCounts): number {
  return approved + waiting + denied
}

function modeText({ isAudit }: PolicyState): string {
  return isAudit ? 'Mode Audit: its rules will decide nothing.' : 'Mode Enforce: its rules will decide, and change these grants.'
}

function builtInText({ replacesBuiltIn }: PolicyState): string {
  return replacesBuiltIn
    ? 'builtInRules Replace: grants that only the built-in rules allow will be denied.'
    : 'builtInRules Keep: the built-in rules will allow again.'
}

/** What a rule hits that is new, or says something else, is in no count: grants that other rules decided. */
function newRulesTexts(before: PolicyState | undefined, after: PolicyState): readonly string[] {
  const written = [...after.rules].filter(([name, rule]) => !sameJson(before?.rules.get(name), rule))
  const effects = written.map(([, rule]) => effectOf(rule))
  const added = written.filter(([name]) => before?.rules.has(name) !== true).map(([, rule]) => effectOf(rule))
  const counts = ruleEffects.map(effect => [effect, added.filter(one => one === effect).length] as const)
  const text = counts.flatMap(([effect, count]) => (count > 0 ? [`${count} ${effect}`] : [])).join(', ')
  const mayEnd = effects.some(effect => effect !== 'Allow')
  return [
    ...(text === '' ? [] : [`New rules: ${text}.`]),
    ...(mayEnd ? ['New or changed rules that deny or require approval may end grants that other rules approved.'] : []),
  ]
}

function whomText({ kind, after }: PolicyChange): string {
  const all = kind === clusterGrantPolicy.kind ? ' --all-namespaces' : ''
  return `Which grants it is about: sekisho policy test${after === undefined ? ' --deleted' : ''}${all} -f <file>`
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 3)}...`
}
