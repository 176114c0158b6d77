// Where the pods of tenants run, and before whom: on the nodes that are open to all, chosen by the cluster's scheduler, without a priority
// that evicts others. Volumes of CSI drivers that a pod names inline are drivers of the cluster that act with rights of their own.
// The rule does not consider who writes a template; only the priority class of a pod depends on the user, because Kubernetes sets it where
// the cluster has a default class.
import { type JsonObject, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { PlatformIdentities } from '../../identities.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, celText, type Rule } from '../../rule.ts'
import { isKubernetes, isKubernetesExpression } from '../kinds/writers.ts'
import { podMatches, podSpecOf, podSpecVariables, samePodSpec } from './pod-spec.ts'

/** Taints that Kubernetes itself sets on a node, and one that clusters with several architectures tolerate by themselves. */
const toleratedPrefixes = ['node.kubernetes.io/', 'kubernetes.io/arch']
const schedulerNames = ['', 'default-scheduler']
const systemPriority = 'system-'

const message = `pods in a tenant’s namespace must not set nodeName, schedulerName, priorityClassName, runtimeClassName, inline csi volumes, or tolerations of other taints than ${toleratedPrefixes.map(prefix => `${prefix}…`).join(', ')}: remove these fields`

function mayHavePriority(request: AdmissionRequest, identities: PlatformIdentities, name: string): boolean {
  if (name === '') return true
  return request.resource === 'pods' && isKubernetes(request, identities) && !name.startsWith(systemPriority)
}

function isPlacedByScheduler(spec: JsonObject): boolean {
  return (
    (textAt(spec, 'nodeName') ?? '') === '' &&
    (textAt(spec, 'runtimeClassName') ?? '') === '' &&
    schedulerNames.includes(textAt(spec, 'schedulerName') ?? '') &&
    objectsAt(spec, 'volumes').every(volume => volume['csi'] === undefined)
  )
}

function toleratesOthers(spec: JsonObject): boolean {
  return objectsAt(spec, 'tolerations').some(
    toleration => !toleratedPrefixes.some(prefix => (textAt(toleration, 'key') ?? '').startsWith(prefix)),
  )
}

/** Of an existing pod only the tolerations can change. */
export const podPlacement: Rule = {
  name: 'pod-placement',
  stops:
    'evicting other tenants and the platform by priority, running on nodes that are kept for others, or using a driver of the cluster',
  scope: 'tenant-namespaces',
  exempts: {
    kubernetesPrefixes: {
      does: 'makes pods to which the cluster has given its default priority class',
      follows: [{ template: 'pod templates', judgedBy: ['pod-placement'] }],
    },
  },
  matches: podMatches,
  check(request, identities) {
    const { resource, operation, object, oldObject } = request
    const spec = podSpecOf(resource, object)
    if (spec === undefined || (operation === 'UPDATE' && sameJson(spec, podSpecOf(resource, oldObject)))) return undefined
    if (toleratesOthers(spec)) return message
    if (resource === 'pods' && operation === 'UPDATE') return undefined
    return isPlacedByScheduler(spec) && mayHavePriority(request, identities, textAt(spec, 'priorityClassName') ?? '')
      ? undefined
      : message
  },
  policy: identities => ({
    variables: [...podSpecVariables, { name: 'priority', expression: "variables.spec.?priorityClassName.orValue('')" }],
    validation: {
      expression: [
        samePodSpec,
        ` || (variables.spec.?tolerations.orValue([]).all(t, ${celList(toleratedPrefixes)}.exists(prefix, t.?key.orValue('').startsWith(prefix)))`,
        " && ((variables.r == 'pods' && request.operation == 'UPDATE')",
        " || (variables.spec.?nodeName.orValue('') == '' && variables.spec.?runtimeClassName.orValue('') == ''",
        ` && variables.spec.?schedulerName.orValue('') in ${celList(schedulerNames)}`,
        ' && variables.spec.?volumes.orValue([]).all(v, !v.?csi.hasValue())',
        ` && (variables.priority == '' || (variables.r == 'pods' && ${isKubernetesExpression(identities)} && !variables.priority.startsWith(${celText(systemPriority)}))))))`,
      ].join(''),
      message,
    },
  }),
}
