// The rules as ValidatingAdmissionPolicies with their bindings: they hold while the platform is down, and on clusters that do
// not allow webhooks. Pure; the result is committed under deploy/policies.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
import { platformNamespace } from '../api/names.ts'
import { defined } from '../lib/json/defined.ts'
import { platformIdentities } from './identities.ts'
import { mutations } from './mutations/index.ts'
import { mutationManifests } from './mutations/mutation.ts'
import { administers, celList, type PolicyRule, type Rule, resourceRules, type Validation } from './rule.ts'
import { namespaceSelectors } from './rule-sets.ts'
import { ownRules, policyRules, rules } from './rules/index.ts'

/** A Kubernetes object as it is written to a file. */
export type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
} & Readonly<Record<string, unknown>>

const apiVersion = 'admissionregistration.k8s.io/v1'
const partOf = { 'app.kubernetes.io/part-of': 'sekisho' }

/** File names below deploy/policies and the objects in each file. */
export function policyFiles(): ReadonlyMap<string, readonly Manifest[]> {
  const all: readonly (Rule | PolicyRule)[] = [...rules, ...policyRules, ...ownRules]
  return new Map<string, readonly Manifest[]>([
    ...all.flatMap(rule => {
      const twin = rule.policy?.(platformIdentities)
      return twin === undefined ? [] : [[`${rule.name}.yaml`, [policy(rule, twin), ...bindings(rule)]] as const]
    }),
    ...mutations.map(mutation => [`${mutation.name}-mutation.yaml`, mutationManifests(mutation)] as const),
  ])
}

type Twin = ReturnType<NonNullable<Rule['policy']>>

function policy(rule: Rule | PolicyRule, { variables, validation }: Twin): Manifest {
  const selector = namespaceSelectors[rule.scope]
  const users = 'users' in rule ? rule.users : undefined
  const condition = 'condition' in rule ? rule.condition : undefined
  const conditions = [
    ...(users === undefined ? [] : [ourOwn(users(platformIdentities))]),
    ...(condition === undefined ? [] : [condition]),
  ]
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: policyName(rule), labels: partOf, annotations: { 'sekisho.dev/stops': rule.stops } },
    spec: {
      failurePolicy: 'Fail',
      ...(paramOf(rule) === undefined ? {} : { paramKind: paramOf(rule) }),
      matchConstraints: {
        matchPolicy: 'Equivalent',
        ...defined({ namespaceSelector: selector }),
        resourceRules: resourceRules(rule.matches),
      },
      ...(conditions.length === 0 ? {} : { matchConditions: conditions }),
      ...(variables.length === 0 ? {} : { variables }),
      // Without this reason the API server answers 422 instead of 403.
      validations: [{ ...unlessAdministrator(rule, validation), reason: 'Forbidden' }],
    },
  }
}

function ourOwn(users: readonly string[]): { readonly name: string; readonly expression: string } {
  return { name: 'our-own-identities', expression: `request.userInfo.username in ${celList(users)}` }
}

/** The API server is asked last: asking costs more than everything else in a rule. */
function unlessAdministrator(rule: Pick<Rule, 'administratorsMay'>, validation: Validation): Validation {
  return rule.administratorsMay ? { ...validation, expression: `(${validation.expression}) || ${administers}` } : validation
}

/** The kind that the policy reads; undefined for most. */
function paramOf(rule: Rule | PolicyRule): { readonly apiVersion: string; readonly kind: string } | undefined {
  if (!('param' in rule) || rule.param === undefined) return undefined
  return { apiVersion: rule.param.apiVersion, kind: rule.param.kind }
}

function bindings(rule: Rule | PolicyRule): readonly Manifest[] {
  const ofPlatform = () => binding(rule, { name: `${policyName(rule)}-by-platform`, namespace: platformNamespace })
  const paramsIn = 'paramsIn' in rule ? rule.paramsIn : undefined
  if (paramsIn === 'platform') return [ofPlatform()]
  const own = binding(rule, { name: policyName(rule) })
  return paramsIn === 'both' ? [own, ofPlatform()] : [own]
}

/** Without a namespace the parameters are the objects in the namespace of the request. */
function binding(rule: Rule | PolicyRule, { name, namespace }: { readonly name: string; readonly namespace?: string }): Manifest {
  const paramRef = { selector: {}, parameterNotFoundAction: 'Allow', ...defined({ namespace }) }
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name, labels: partOf },
    spec: {
      policyName: policyName(rule),
      ...(paramOf(rule) === undefined ? {} : { paramRef }),
      validationActions: ['Deny'],
    },
  }
}

function policyName(rule: Pick<Rule, 'name'>): string {
  return `sekisho-${rule.name}`
}
