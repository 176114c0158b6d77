// With which runtime the pods of tenants run, and on which set-aside nodes: with the RuntimeClass that the platform admin chose for the tenant and on
// the nodes of that class, or with the nodes' own runtime on nodes that are open to all. A policy only: the choice is a label of the namespace, which the
// webhook does not see. The mutation of src/admission/mutations sets the class before.
// Source: https://kubernetes.io/docs/concepts/containers/runtime-class/
import { celList, type PolicyRule } from '../../rule.ts'
import { podMatches, podSpecVariables, podTemplateExpression, samePodSpec } from './pod-spec.ts'
import { runtimeClassOfPod } from './runtime-class-of-pod.ts'

/** Taints that Kubernetes itself sets on a node, and one that clusters with several architectures tolerate by themselves. */
const toleratedPrefixes = ['node.kubernetes.io/', 'kubernetes.io/arch']

/** A template may leave the class out, and Kubernetes adds its tolerations to pods alone. Of an existing pod only tolerations can change. */
export const podRuntimeClass: PolicyRule = {
  name: 'pod-runtime-class',
  stops:
    'sharing the kernel of a node where the platform admin chose a runtime of its own for the tenant, and running on nodes that are kept for others',
  scope: 'tenant-namespaces',
  matches: podMatches,
  policy: () => ({
    variables: [
      ...podSpecVariables,
      { name: 'metadata', expression: podTemplateExpression('object', 'metadata') },
      ...runtimeClassOfPod('variables.metadata'),
      { name: 'named', expression: "variables.spec.?runtimeClassName.orValue('')" },
      {
        name: 'open',
        expression: `variables.spec.?tolerations.orValue([]).all(t, ${celList(toleratedPrefixes)}.exists(prefix, t.?key.orValue('').startsWith(prefix)) || (t.?key.orValue('') != '' && t.key in variables.classTaints))`,
      },
      {
        name: 'runs',
        expression: "variables.named == variables.class || (variables.named == '' && variables.r != 'pods')",
      },
    ],
    validation: {
      expression: `${samePodSpec} || (variables.open && (variables.runs || (variables.r == 'pods' && request.operation == 'UPDATE')))`,
      messageExpression: [
        "variables.open ? (variables.class == '' ? 'spec.runtimeClassName must not be set in this namespace: remove it'",
        " : 'spec.runtimeClassName must be ' + variables.class + ', which the platform chose for this tenant, or be omitted: change or remove it')",
        ` : 'tolerations must be of taints ${toleratedPrefixes.map(prefix => `${prefix}…`).join(', ')} or of the nodes of the RuntimeClass of this namespace: remove the others'`,
      ].join(''),
    },
  }),
}
