// Where each kind of workload has the spec of its pods, for the rules about pods: the requests to match, in TypeScript and in
// CEL.
import { type JsonObject, objectAt } from '../../../lib/json/json-value.ts'
import type { Match } from '../../rule.ts'

/** Pods, and every built-in kind with a pod template. */
export const podMatches: readonly Match[] = [
  {
    group: '',
    resources: ['pods', 'pods/ephemeralcontainers', 'pods/resize', 'replicationcontrollers', 'podtemplates'],
    operations: ['CREATE', 'UPDATE'],
  },
  { group: 'apps', resources: ['deployments', 'replicasets', 'statefulsets', 'daemonsets'], operations: ['CREATE', 'UPDATE'] },
  { group: 'batch', resources: ['jobs', 'cronjobs'], operations: ['CREATE', 'UPDATE'] },
]

/** What pods are made from, with `metadata` and `spec`: the pod itself, or the template in an object of one of the kinds. */
export function podTemplateOf(resource: string, object: JsonObject | undefined): JsonObject | undefined {
  switch (resource) {
    case 'pods':
      return object
    case 'podtemplates':
      return objectAt(object, 'template')
    case 'cronjobs':
      return objectAt(object, 'spec', 'jobTemplate', 'spec', 'template')
    default:
      return objectAt(object, 'spec', 'template')
  }
}

/** The pod spec in an object of one of the kinds; undefined when there is none. */
export function podSpecOf(resource: string, object: JsonObject | undefined): JsonObject | undefined {
  return objectAt(podTemplateOf(resource, object), 'spec')
}

/** The CEL twin of a field of `podTemplateOf`, empty when there is none; needs the variable `r`. */
export function podTemplateExpression(object: string, field: 'metadata' | 'spec'): string {
  return `variables.r == 'pods' ? dyn(${object}).?${field}.orValue({}) : variables.r == 'podtemplates' ? dyn(${object}).?template.?${field}.orValue({}) : variables.r == 'cronjobs' ? dyn(${object}).?spec.?jobTemplate.?spec.?template.?${field}.orValue({}) : dyn(${object}).?spec.?template.?${field}.orValue({})`
}

/** The CEL twin of `podSpecOf`: `r` is the resource, `spec` and `oldSpec` (null on CREATE) the pod specs. */
export const podSpecVariables = [
  { name: 'r', expression: 'request.resource.resource' },
  { name: 'spec', expression: podTemplateExpression('object', 'spec') },
  { name: 'oldSpec', expression: `oldObject == null ? null : ${podTemplateExpression('oldObject', 'spec')}` },
]

/** CEL: the pod spec is as it was. An object that is older than a rule may be scaled, relabelled and deleted, but not edited. */
export const samePodSpec = '(variables.oldSpec != null && variables.spec == variables.oldSpec)'
