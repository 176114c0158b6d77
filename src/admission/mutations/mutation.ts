// What the API server changes in what tenants write, by MutatingAdmissionPolicies: they see the labels of the namespace, which
// no webhook does, and hold while all our processes are down. A rule of src/admission/rules refuses what one of them does not
// reach.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/
import { type PlatformIdentities, platformIdentities } from '../identities.ts'
import { type Match, resourceRules, type Scope } from '../rule.ts'
import { namespaceSelectors } from '../rule-sets.ts'

/** As Kubernetes 1.34 and 1.35 serve it where the feature gate is set; later ones serve v1, which make up puts in its place. */
const apiVersion = 'admissionregistration.k8s.io/v1beta1'
const partOf = { 'app.kubernetes.io/part-of': 'sekisho' }

/**
 * One change of objects. Applying it twice must be the same as once: Kubernetes evaluates it again when others changed the
 * object.
 */
export type Mutation = {
  readonly name: string
  readonly scope: Extract<Scope, 'tenant-namespaces' | 'application-namespaces'>
  /** A label of the namespace that it reads; what is in namespaces without it is left as it is. */
  readonly label?: string
  readonly match: Match
  readonly policy: (identities: PlatformIdentities) => {
    readonly variables: readonly { readonly name: string; readonly expression: string }[]
    /** CEL: a list of JSONPatches. */
    readonly patches: string
  }
}

export const newPods: Match = { group: '', resources: ['pods'], operations: ['CREATE'] }

/** CEL: the patch that adds or replaces a value; both are expressions. */
export function addPatch(path: string, value: string): string {
  return `JSONPatch{op: 'add', path: ${path}, value: ${value}}`
}

/**
 * The policy and its binding. The plugins of the API server see the changed object: of a pod, RuntimeClass adds overhead, node
 * selectors and tolerations.
 */
export function mutationManifests({ name: short, scope, label, match, policy }: Mutation) {
  const name = `sekisho-${short}`
  const { variables, patches } = policy(platformIdentities)
  const { matchExpressions } = namespaceSelectors[scope] as { readonly matchExpressions: readonly object[] }
  return [
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicy',
      metadata: { name, labels: partOf },
      spec: {
        failurePolicy: 'Fail',
        reinvocationPolicy: 'IfNeeded',
        matchConstraints: {
          matchPolicy: 'Equivalent',
          namespaceSelector: {
            matchExpressions: [...matchExpressions, ...(label === undefined ? [] : [{ key: label, operator: 'Exists' }])],
          },
          resourceRules: resourceRules([match]),
        },
        variables,
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: patches } }],
      },
    },
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: { name, labels: partOf },
      spec: { policyName: name },
    },
  ]
}
