// Where the pods of tenants run, and before whom: where the cluster's scheduler places them, without a priority that evicts
// others. Taints and runtime classes belong to pod-runtime-class. Volumes of CSI drivers that a pod names inline are drivers of
// the cluster that act with rights of their own. The rule does not consider who writes a template; only the priority class of a
// pod depends on the user, because Kubernetes sets it where the cluster has a default class.
import { type JsonObject, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { PlatformIdentities } from '../../identities.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, celText, type Rule } from '../../rule.ts'
import { isKubernetes, isKubernetesExpression } from '../kinds/writers.ts'
import { podMatches, podSpecOf, podSpecVariables, samePodSpec } from './pod-spec.ts'

const schedulerNames = ['', 'default-scheduler']
const systemPriority = 'system-'

const message =
  'pods in a tenant’s namespace must not set nodeName, schedulerName, priorityClassName or inline csi volumes: remove these fields'

function mayHavePriority(request: AdmissionRequest, identities: PlatformIdentities, name: string): boolean {
  if (name === '') return true
  return request.resource === 'pods' && isKubernetes(request, identities) && !name.startsWith(systemPriority)
}

function isPlacedByScheduler(spec: JsonObject): boolean {
  return (
    (textAt(spec, 'nodeName') ?? '') === '' &&
    schedulerNames.includes(textAt(spec, 'schedulerName') ?? '') &&
    objectsAt(spec, 'volumes').every(volume => volume['csi'] === undefined)
  )
}

/** Of an existing pod nothing of this can change. */
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
        " || (variables.r == 'pods' && request.operation == 'UPDATE')",
        " || (variables.spec.?nodeName.orValue('') == ''",
        ` && variables.spec.?schedulerName.orValue('') in ${celList(schedulerNames)}`,
        ' && variables.spec.?volumes.orValue([]).all(v, !v.?csi.hasValue())',
        ` && (variables.priority == '' || (variables.r == 'pods' && ${isKubernetesExpression(identities)} && !variables.priority.startsWith(${celText(systemPriority)}))))`,
      ].join(''),
      message,
    },
  }),
}
