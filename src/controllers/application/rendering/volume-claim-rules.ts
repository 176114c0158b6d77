// What the PersistentVolumeClaims of a chart may not do: name a volume, or have it filled from elsewhere. Both could give a
// tenant the content of another. Which claims outlive their Application is decided here, too. Pure; reads unchecked JSON that a
// chart rendered.
// Source: https://kubernetes.io/docs/concepts/storage/persistent-volumes/#persistentvolumeclaims
import type { Application } from '../../../api/apps/application.ts'
import { type PersistentVolumeClaim, persistentVolumeClaims } from '../../../api/builtin/index.ts'
import { domain } from '../../../api/kind.ts'
import { labels, whenDeletedAnnotation } from '../../../api/names.ts'
import { isOf, type KubeObject } from '../../../api/resource.ts'
import { controllerOf } from '../../../kube/object/owner.ts'
import { type JsonObject, objectAt, textAt } from '../../../lib/json/json-value.ts'

/** A part of a claim for its status, by server-side apply. */
export type ClaimRecord = Pick<KubeObject, 'apiVersion' | 'kind'> & {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string }
  readonly status: object
}

/** The fields of a claim that choose or fill its volume. */
const forbidden = ['volumeName', 'selector', 'dataSource', 'dataSourceRef']

function isClaim(object: { readonly apiVersion?: unknown; readonly kind?: unknown }): boolean {
  return isOf(persistentVolumeClaims, object)
}

/** Which rule the claim breaks; undefined for none, and for another kind of object. */
export function brokenVolumeClaimRule(object: JsonObject): string | undefined {
  if (!isClaim(object)) return undefined
  const spec = objectAt(object, 'spec')
  const found = forbidden.find(field => spec?.[field] !== undefined)
  if (found !== undefined) return `spec.${found} must not be set: a volume of an Application begins empty`
  return spec?.['storageClassName'] === ''
    ? 'spec.storageClassName must not be empty: name a StorageClass, or omit it'
    : undefined
}

/** A claim that is to be kept has no owner, so that neither the garbage collector nor a prune deletes it. */
export function outlivesApplication(object: JsonObject): boolean {
  return isClaim(object) && textAt(objectAt(object, 'metadata', 'annotations'), whenDeletedAnnotation) === 'Keep'
}

/**
 * In the status of a claim: for which Application it is kept, by the name in `message`. Labels and annotations prove nothing,
 * because a template of a StatefulSet could carry them before admission judged templates. Tenants write no status of claims,
 * and the API server makes a new claim with an empty one, whatever its template says.
 * https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/persistent-volume-claim-v1/
 */
const keptFor = `${domain}/KeptFor`

function isRecorded(application: Application, claim: KubeObject & Pick<PersistentVolumeClaim, 'status'>): boolean {
  return (claim.status?.conditions ?? []).some(({ type, message }) => type === keptFor && message === application.metadata.name)
}

/** Kept claims are named in the inventory before they are made, and only when no other claim has the name (`plantedClaim`). */
function isNamed({ status }: Application, { metadata }: KubeObject): boolean {
  return (status?.inventory ?? []).some(entry => isClaim(entry) && entry.name === metadata.name)
}

/**
 * Whether the claim was kept for the Application, or for an earlier one of its name: its own status says so, or that of the
 * Application, which is what there is between the making of a claim and its record. A preview, which another object controls,
 * keeps nothing and finds nothing: its name belongs to whoever has that pull request, and it would delete in the end what a
 * person kept.
 */
export function isKeptClaimOf(application: Application, object: KubeObject): boolean {
  const { metadata } = object
  return (
    isClaim(object) &&
    controllerOf(application) === undefined &&
    controllerOf(object) === undefined &&
    metadata.labels?.[labels.application] === application.metadata.name &&
    metadata.annotations?.[whenDeletedAnnotation] === 'Keep' &&
    (isRecorded(application, object) || isNamed(application, object))
  )
}

/**
 * What is to be applied to the status of a claim of the Application, so that a later one of its name finds it; undefined when
 * nothing is.
 */
export function missingRecord(application: Application, object: KubeObject): ClaimRecord | undefined {
  if (!isKeptClaimOf(application, object) || isRecorded(application, object)) return undefined
  const { apiVersion, kind, metadata } = object
  const { namespace = '', name, uid = '' } = metadata
  const condition = { type: keptFor, status: 'True', reason: 'Kept', message: application.metadata.name }
  return { apiVersion, kind, metadata: { namespace, name, uid }, status: { conditions: [condition] } }
}
