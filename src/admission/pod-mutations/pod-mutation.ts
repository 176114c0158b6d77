// What the API server changes in the pods of tenants as they are created, by MutatingAdmissionPolicies: they see the labels of the namespace, which no
// webhook does, and hold while all our processes are down. A rule of src/admission/rules refuses what one of them does not reach.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/
import { namespaceSelectors } from '../rule-sets.ts'

/** As Kubernetes 1.34 and 1.35 serve it where the feature gate is set; later ones serve v1, which make up puts in its place. */
const apiVersion = 'admissionregistration.k8s.io/v1beta1'
const partOf = { 'app.kubernetes.io/part-of': 'sekisho' }

/** One change of pods. Applying it twice must be the same as once: Kubernetes evaluates it again when others changed the pod. */
export type PodMutation = {
  readonly name: string
  /** The label of the namespace that it reads; pods of namespaces without it are left as they are. */
  readonly label: string
  readonly variables: readonly { readonly name: string; readonly expression: string }[]
  /** CEL: a list of JSONPatches. */
  readonly patches: string
}

/** CEL: the patch that adds or replaces a value; both are expressions. */
export function addPatch(path: string, value: string): string {
  return `JSONPatch{op: 'add', path: ${path}, value: ${value}}`
}

/** The policy and its binding. The plugins of the API server see the changed pod: RuntimeClass adds overhead, node selectors and tolerations. */
export function mutationManifests({ name: short, label, variables, patches }: PodMutation) {
  const name = `sekisho-${short}`
  const selector = namespaceSelectors['tenant-namespaces'] as { readonly matchExpressions: readonly object[] }
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
          namespaceSelector: { matchExpressions: [...selector.matchExpressions, { key: label, operator: 'Exists' }] },
          resourceRules: [{ apiGroups: [''], apiVersions: ['*'], resources: ['pods'], operations: ['CREATE'], scope: '*' }],
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
