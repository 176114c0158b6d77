// Templates of PersistentVolumeClaims: those of a StatefulSet, and those of ephemeral volumes in pods and in every kind with a
// pod template. Kubernetes' controllers make the claims, so a claim does not show who wrote its template: the template is
// judged as the claim that it becomes. The rule does not consider the user, because Kubernetes' controllers also make pods of
// templates that are older than the rule.
import { isReservedKey } from '../../../api/names.ts'
import { type JsonObject, listAt, objectAt, objectsAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { AdmissionRequest } from '../../review.ts'
import type { Rule } from '../../rule.ts'
import { reservedKeyExpression } from '../metadata/reserved-keys.ts'
import { podMatches, podSpecOf, podSpecVariables, samePodSpec } from '../pods/pod-spec.ts'
import { choosesVolume, choosesVolumeExpression, choosingFields, namedVolume, namedVolumeExpression } from './claim-volume.ts'

const message = `spec.volumeClaimTemplates and volumes[].ephemeral.volumeClaimTemplate become PersistentVolumeClaims, so they must not set ${choosingFields}, nor ownerReferences, finalizers, or labels and annotations of the platform: remove these fields and name a StorageClass, or omit it; an object that has them already may be scaled down, labelled and deleted`

/** Lists in the metadata of a StatefulSet's templates; the API server refuses them in ephemeral volumes. */
const emptyLists = ['ownerReferences', 'finalizers']
const maps = ['labels', 'annotations']

function templatesIn(resource: string, object: JsonObject | undefined): readonly JsonObject[] {
  const ofVolumes = objectsAt(podSpecOf(resource, object), 'volumes')
    .map(volume => objectAt(volume, 'ephemeral', 'volumeClaimTemplate'))
    .filter(template => template !== undefined)
  return resource === 'statefulsets' ? [...ofVolumes, ...objectsAt(objectAt(object, 'spec'), 'volumeClaimTemplates')] : ofVolumes
}

function isForbidden(template: JsonObject): boolean {
  const metadata = objectAt(template, 'metadata')
  return (
    namedVolume(template) !== '' ||
    choosesVolume(template) ||
    emptyLists.some(field => listAt(metadata, field).length > 0) ||
    maps.some(field => Object.keys(objectAt(metadata, field) ?? {}).some(isReservedKey))
  )
}

function replicasOf(object: JsonObject | undefined): number {
  return Number(objectAt(object, 'spec')?.['replicas'] ?? 0)
}

/** Of a pod itself no volume can change. */
function isAsBefore({ resource, operation, object, oldObject }: AdmissionRequest): boolean {
  return (
    operation === 'UPDATE' &&
    sameJson(templatesIn(resource, object), templatesIn(resource, oldObject)) &&
    (resource === 'pods' ||
      (sameJson(podSpecOf(resource, object), podSpecOf(resource, oldObject)) && replicasOf(object) <= replicasOf(oldObject)))
  )
}

/** CEL: the pod spec in the variable, and the claim templates of the object when it is a StatefulSet. */
function templatesExpression(object: string, spec: string): string {
  return [
    `variables.${spec}.?volumes.orValue([]).filter(v, v.?ephemeral.?volumeClaimTemplate.hasValue()).map(v, dyn(v.ephemeral.volumeClaimTemplate))`,
    ` + (variables.r == 'statefulsets' ? dyn(${object}).?spec.?volumeClaimTemplates.orValue([]).map(t, dyn(t)) : [])`,
  ].join('')
}

const forbiddenExpression = [
  `${namedVolumeExpression('t')} != ''`,
  choosesVolumeExpression('t'),
  ...emptyLists.map(field => `t.?metadata.?${field}.orValue([]).size() > 0`),
  ...maps.map(field => `t.?metadata.?${field}.orValue({}).exists(key, ${reservedKeyExpression('key')})`),
].join(' || ')

/** For platform admins as well: what they may do to a claim, they do to the claim itself. */
export const claimTemplates: Rule = {
  name: 'claim-templates',
  stops:
    'binding a volume of another tenant, or planting a claim that looks like one of the platform, by a template from which Kubernetes makes the claim',
  scope: 'tenant-namespaces',
  matches: podMatches,
  check(request) {
    const { resource, object } = request
    return templatesIn(resource, object).some(isForbidden) && !isAsBefore(request) ? message : undefined
  },
  policy: () => ({
    variables: [
      ...podSpecVariables,
      { name: 'claims', expression: templatesExpression('object', 'spec') },
      { name: 'oldClaims', expression: `oldObject == null ? [] : ${templatesExpression('oldObject', 'oldSpec')}` },
      { name: 'replicas', expression: "variables.r == 'pods' ? 0 : dyn(object).?spec.?replicas.orValue(0)" },
      {
        name: 'oldReplicas',
        expression: "oldObject == null || variables.r == 'pods' ? 0 : dyn(oldObject).?spec.?replicas.orValue(0)",
      },
      {
        name: 'asBefore',
        expression: `request.operation == 'UPDATE' && variables.claims == variables.oldClaims && (variables.r == 'pods' || (${samePodSpec} && variables.replicas <= variables.oldReplicas))`,
      },
    ],
    validation: { expression: `!variables.claims.exists(t, ${forbiddenExpression}) || variables.asBefore`, message },
  }),
}
