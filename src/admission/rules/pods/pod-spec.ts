// Where each kind of workload has the spec of its pods, for the rules about pods: the requests to match, in TypeScript and in CEL.
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

/** The pod spec in an object of one of the kinds; undefined when there is none. */
export function podSpecOf(resource: string, object: JsonObject | undefined): JsonObject | undefined {
  switch (resource) {
    case 'pods':
      return objectAt(object, 'spec')
    case 'podtemplates':
      return objectAt(object, 'template', 'spec')
    case 'cronjobs':
      return objectAt(object, 'spec', 'jobTemplate', 'spec', 'template', 'spec')
    default:
      return objectAt(object, 'spec', 'template', 'spec')
  }
}

function podSpecExpression(object: string): string {
  return `variables.r == 'pods' ? dyn(${object}).?spec.orValue({}) : variables.r == 'podtemplates' ? dyn(${object}).?template.?spec.orValue({}) : variables.r == 'cronjobs' ? dyn(${object}).?spec.?jobTemplate.?spec.?template.?spec.orValue({}) : dyn(${object}).?spec.?template.?spec.orValue({})`
}

/** The CEL twin of `podSpecOf`: `r` is the resource, `spec` and `oldSpec` (null on CREATE) the pod specs. */
export const podSpecVariables = [
  { name: 'r', expression: 'request.resource.resource' },
  { name: 'spec', expression: podSpecExpression('object') },
  { name: 'oldSpec', expression: `oldObject == null ? null : ${podSpecExpression('oldObject')}` },
]

/** CEL: the pod spec is as it was. An object that is older than a rule may be scaled, relabelled and deleted, but not edited. */
export const samePodSpec = '(variables.oldSpec != null && variables.spec == variables.oldSpec)'
