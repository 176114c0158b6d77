// What the PersistentVolumeClaims of a chart may not do: name a volume, or have it filled from elsewhere. Both could give a tenant the content of
// another. Which claims outlive their Application is decided here, too. Pure; reads unchecked JSON that a chart rendered.
// Source: https://kubernetes.io/docs/concepts/storage/persistent-volumes/#persistentvolumeclaims
import type { Application } from '../../../api/apps/application.ts'
import { persistentVolumeClaims } from '../../../api/builtin/index.ts'
import { labels, whenDeletedAnnotation } from '../../../api/names.ts'
import type { KubeObject } from '../../../api/resource.ts'
import { controllerOf } from '../../../kube/object/owner.ts'
import { type JsonObject, objectAt, textAt } from '../../../lib/json/json-value.ts'

/** The fields of a claim that choose or fill its volume. */
const forbidden = ['volumeName', 'selector', 'dataSource', 'dataSourceRef']

function isClaim(object: { readonly apiVersion?: unknown; readonly kind?: unknown }): boolean {
  return object.apiVersion === persistentVolumeClaims.apiVersion && object.kind === persistentVolumeClaims.kind
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
 * Whether the claim was kept for the Application, or for an earlier one of its name. Only the platform can have set the label and the annotation. A
 * preview, which another object controls, keeps nothing and finds nothing: its name belongs to whoever has that pull request, and it would
 * delete in the end what a person kept.
 */
export function isKeptClaimOf(application: Application, object: KubeObject): boolean {
  const { metadata } = object
  return (
    isClaim(object) &&
    controllerOf(application) === undefined &&
    controllerOf(object) === undefined &&
    metadata.labels?.[labels.application] === application.metadata.name &&
    metadata.annotations?.[whenDeletedAnnotation] === 'Keep'
  )
}
