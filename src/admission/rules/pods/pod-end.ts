// That the pods of tenants end: soon after they are deleted, and for good where a node is drained. Who writes a template is not
// considered; only the toleration and the finalizer of a pod depend on the user, because the controllers of DaemonSets and of
// Jobs give them to their pods. `preStop` needs no bound of its own: it ends with the grace period, and the API server refuses
// a sleep that is longer.
// Source: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination
import { maxGraceSeconds } from '../../../api/apps/application/process.ts'
import { drainTaint } from '../../../api/builtin/index.ts'
import { type JsonObject, listAt, objectAt, objectsAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { PlatformIdentities } from '../../identities.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celText, type Rule } from '../../rule.ts'
import { isKubernetes, isKubernetesExpression } from '../kinds/writers.ts'
import { podMatches, podSpecOf, podSpecVariables, podTemplateExpression, podTemplateOf, samePodSpec } from './pod-spec.ts'

/** A year. A Job without a deadline is allowed; its pods end when it is deleted. */
const maxDeadlineSeconds = 31_536_000
/**
 * The controller of Jobs gives it to its pods, and takes it away; from a pod of another owner nobody takes it (`syncOrphanPod`
 * of Kubernetes).
 */
const jobFinalizer = 'batch.kubernetes.io/job-tracking'
const containerLists = ['containers', 'initContainers']
const probes = ['livenessProbe', 'startupProbe']
const jobFields = ['activeDeadlineSeconds', 'ttlSecondsAfterFinished']

const message = `pods in a tenant’s namespace must end: set terminationGracePeriodSeconds of pods and probes to at most ${maxGraceSeconds}, activeDeadlineSeconds and ttlSecondsAfterFinished to at most ${maxDeadlineSeconds}, and remove finalizers of pods and tolerations of ${drainTaint}`

const above = (bound: number, value: unknown): boolean => typeof value === 'number' && value > bound

function endsLate(spec: JsonObject): boolean {
  const containers = containerLists.flatMap(list => objectsAt(spec, list))
  const graces = containers.flatMap(one => probes.map(probe => objectAt(one, probe)?.['terminationGracePeriodSeconds']))
  return (
    [spec['terminationGracePeriodSeconds'], ...graces].some(value => above(maxGraceSeconds, value)) ||
    above(maxDeadlineSeconds, spec['activeDeadlineSeconds'])
  )
}

const returns = (spec: JsonObject | undefined): boolean => objectsAt(spec, 'tolerations').some(({ key }) => key === drainTaint)

function jobSpecOf(resource: string, object: JsonObject | undefined): JsonObject | undefined {
  if (resource === 'jobs') return objectAt(object, 'spec')
  return resource === 'cronjobs' ? objectAt(object, 'spec', 'jobTemplate', 'spec') : undefined
}

/** A pod's own, and those that a template gives to its pods. */
const finalizersOf = ({ resource }: AdmissionRequest, object: JsonObject | undefined): readonly unknown[] =>
  listAt(objectAt(podTemplateOf(resource, object), 'metadata'), 'finalizers')

const isOfJob = (pod: JsonObject | undefined): boolean =>
  objectsAt(objectAt(pod, 'metadata'), 'ownerReferences').some(
    ({ controller, apiVersion, kind }) => controller === true && apiVersion === 'batch/v1' && kind === 'Job',
  )

/** What was there before is not judged again. */
function isHeld(request: AdmissionRequest, identities: PlatformIdentities): boolean {
  const { resource, object, oldObject } = request
  const before = finalizersOf(request, oldObject)
  const isJobPod = resource === 'pods' && isKubernetes(request, identities) && isOfJob(object)
  return finalizersOf(request, object).some(one => !before.includes(one) && (one !== jobFinalizer || !isJobPod))
}

function hasLateJob({ resource, object, oldObject }: AdmissionRequest): boolean {
  const [now, before] = [jobSpecOf(resource, object), jobSpecOf(resource, oldObject)]
  return jobFields.some(field => now?.[field] !== before?.[field] && above(maxDeadlineSeconds, now?.[field]))
}

const jobSpecExpression = (object: string): string =>
  `variables.r == 'jobs' ? dyn(${object}).?spec.orValue({}) : variables.r == 'cronjobs' ? dyn(${object}).?spec.?jobTemplate.?spec.orValue({}) : {}`

const unchangedOr = (field: string): string =>
  `(variables.job.?${field}.orValue(0) <= ${maxDeadlineSeconds} || variables.job.?${field} == variables.oldJob.?${field})`

/** A running pod can only get other tolerations, and is not stopped by its past otherwise. */
export const podEnd: Rule = {
  name: 'pod-end',
  stops:
    'a pod that ends years after its deletion and keeps a namespace or a node from ending, or that returns to a drained node',
  scope: 'tenant-namespaces',
  exempts: {
    kubernetesPrefixes: {
      does: 'makes pods of DaemonSets, which tolerate a node that is being drained, and of Jobs, from which it takes its finalizer again',
      follows: [{ template: 'pod templates', judgedBy: ['pod-end'] }],
    },
  },
  matches: podMatches,
  check(request, identities) {
    const { resource, operation, object, oldObject } = request
    const isRunning = resource === 'pods' && operation === 'UPDATE'
    if (hasLateJob(request) || (!isRunning && isHeld(request, identities))) return message
    const [spec, before] = [podSpecOf(resource, object), podSpecOf(resource, oldObject)]
    if (spec === undefined || (before !== undefined && sameJson(spec, before))) return undefined
    const comesBack = returns(spec) && !(resource === 'pods' && isKubernetes(request, identities))
    const isRefused = isRunning ? returns(spec) && !returns(before) : endsLate(spec) || comesBack
    return isRefused ? message : undefined
  },
  policy: identities => ({
    variables: [
      ...podSpecVariables,
      { name: 'running', expression: "variables.r == 'pods' && request.operation == 'UPDATE'" },
      { name: 'finalizers', expression: `(${podTemplateExpression('object', 'metadata')}).?finalizers.orValue([])` },
      {
        name: 'oldFinalizers',
        expression: `oldObject == null ? [] : (${podTemplateExpression('oldObject', 'metadata')}).?finalizers.orValue([])`,
      },
      {
        name: 'jobPod',
        expression: `variables.r == 'pods' && ${isKubernetesExpression(identities)} && dyn(object).metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && o.apiVersion == 'batch/v1' && o.kind == 'Job')`,
      },
      { name: 'job', expression: jobSpecExpression('object') },
      { name: 'oldJob', expression: `oldObject == null ? {} : ${jobSpecExpression('oldObject')}` },
      { name: 'containers', expression: containerLists.map(list => `variables.spec.?${list}.orValue([])`).join(' + ') },
      {
        name: 'returns',
        expression: `variables.spec.?tolerations.orValue([]).exists(t, t.?key.orValue('') == ${celText(drainTaint)})`,
      },
      {
        name: 'returned',
        expression: `variables.oldSpec != null && variables.oldSpec.?tolerations.orValue([]).exists(t, t.?key.orValue('') == ${celText(drainTaint)})`,
      },
      {
        name: 'endsInTime',
        expression: [
          `variables.spec.?terminationGracePeriodSeconds.orValue(0) <= ${maxGraceSeconds}`,
          `variables.spec.?activeDeadlineSeconds.orValue(0) <= ${maxDeadlineSeconds}`,
          ...probes.map(
            probe => `variables.containers.all(c, c.?${probe}.?terminationGracePeriodSeconds.orValue(0) <= ${maxGraceSeconds})`,
          ),
        ].join(' && '),
      },
    ],
    validation: {
      expression: [
        ...jobFields.map(unchangedOr),
        `(variables.running || variables.finalizers.all(f, f in variables.oldFinalizers || (variables.jobPod && f == ${celText(jobFinalizer)})))`,
        `(${samePodSpec} || (variables.running ? !variables.returns || variables.returned : variables.endsInTime && (!variables.returns || (variables.r == 'pods' && ${isKubernetesExpression(identities)}))))`,
      ].join(' && '),
      message,
    },
  }),
}
