// With which runtime the pods of tenants run, and on which set-aside nodes: with the RuntimeClass that the platform admin chose
// for the tenant and on the nodes of that class, or with the nodes' own runtime on nodes that are open to all. A policy only:
// the choice is a label of the namespace, which the webhook does not see. The mutation of src/admission/mutations sets the
// class before.
// Source: https://kubernetes.io/docs/concepts/containers/runtime-class/
import { celText, type PolicyRule } from '../../rule.ts'
import { podMatches, podSpecVariables, podTemplateExpression, samePodSpec } from './pod-spec.ts'
import { runtimeClassOfPod, tolerationExpression } from './runtime-class-of-pod.ts'

/** Taints that Kubernetes itself sets on a node, and one that clusters with several architectures tolerate by themselves. */
const [toleratedPrefix, toleratedKey] = ['node.kubernetes.io/', 'kubernetes.io/arch']

const isOpen = [
  `t.?key.orValue('').startsWith(${celText(toleratedPrefix)}) || t.?key.orValue('') == ${celText(toleratedKey)}`,
  `(t.?key.orValue('') != '' && (${tolerationExpression}) in variables.classTolerations)`,
  // What a pod has from a former class.
  "(variables.r == 'pods' && variables.oldSpec != null && t in variables.oldSpec.?tolerations.orValue([]))",
].join(' || ')

/**
 * A template may leave the class out, and Kubernetes adds its tolerations to pods alone. Of an existing pod only tolerations
 * can change.
 */
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
        expression: `variables.spec.?tolerations.orValue([]).all(t, ${isOpen})`,
      },
      {
        name: 'runs',
        expression: "variables.named == variables.class || (variables.named == '' && variables.r != 'pods')",
      },
    ],
    validation: {
      expression: `${samePodSpec} || (variables.open && (variables.runs || (variables.r == 'pods' && request.operation == 'UPDATE')))`,
      messageExpression: [
        "variables.open ? (variables.class == '' ? 'runtimeClassName must not be set in pods and templates of this namespace: remove it'",
        " : 'runtimeClassName of pods and templates must be ' + variables.class + ', which the platform chose for this tenant, or be omitted: remove it')",
        ` : 'tolerations must be of taints ${toleratedPrefix}… and ${toleratedKey}, or those of the RuntimeClass of this namespace: remove the others'`,
      ].join(''),
    },
  }),
}
