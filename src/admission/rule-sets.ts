// The rules in the sets in which requests are sent to the webhook: the webhook sees neither the labels of a namespace nor who
// is a platform admin, so the registration of each set selects by both, and the path names the set whose rules apply.
import { labels, platformNamespace } from '../api/names.ts'
import { administers, type Rule, type Scope } from './rule.ts'
import { rules } from './rules/index.ts'

/** Rules that apply to the same namespaces and people. */
export type RuleSet = {
  /** Part of the path and of the webhook's name. */
  readonly name: string
  readonly scope: Scope
  readonly rules: readonly Rule[]
  /** True: the requests of platform admins are not sent. */
  readonly administratorsMay: boolean
}

/** Selects by labels that only the platform can write (rule namespace-guard), and by the name of the namespace. */
export const namespaceSelectors: Readonly<Record<Scope, object | undefined>> = {
  everywhere: undefined,
  'tenant-namespaces': { matchExpressions: [{ key: labels.tenant, operator: 'Exists' }] },
  'application-namespaces': {
    matchExpressions: [
      { key: labels.tenant, operator: 'Exists' },
      { key: labels.namespacePurpose, operator: 'NotIn', values: ['build'] },
    ],
  },
  'build-namespaces': {
    matchExpressions: [
      { key: labels.tenant, operator: 'Exists' },
      { key: labels.namespacePurpose, operator: 'In', values: ['build'] },
    ],
  },
  'platform-namespace': { matchLabels: { 'kubernetes.io/metadata.name': platformNamespace } },
}

const setNames: Readonly<Record<Scope, string>> = {
  everywhere: 'kinds',
  'tenant-namespaces': 'tenants',
  'application-namespaces': 'applications',
  'build-namespaces': 'builds',
  'platform-namespace': 'platform',
}

/** The condition under which a request is sent for rules that platform admins may break. */
export const notAdministrator = { name: 'not-a-platform-admin', expression: `!${administers}` }

/** Every rule is in one of the sets. */
export const ruleSets: readonly RuleSet[] = (Object.keys(setNames) as Scope[])
  .flatMap(scope =>
    [false, true].map(administratorsMay => ({
      name: administratorsMay ? `${setNames[scope]}-administered` : setNames[scope],
      scope,
      administratorsMay,
      rules: rules.filter(rule => rule.scope === scope && (rule.administratorsMay === true) === administratorsMay),
    })),
  )
  .filter(set => set.rules.length > 0)
