// Writes into a change of an Application who makes it. The user is the one that the API server has authenticated, or whom it
// lets another user impersonate. See docs/adr/0048-who-changed-an-application.md.
import { changedByOf, changedByText, generationOf } from '../../api/apps/application/changed-by.ts'
import { changedByAnnotation } from '../../api/names.ts'
import { type JsonObject, objectAt } from '../../lib/json/json-value.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { platformIdentities } from '../identities.ts'
import type { AdmissionRequest } from '../review.ts'
import { covers } from '../rule.ts'
import { changedBy } from '../rules/apps/changed-by.ts'
import { isKubernetesExpression, isPlatformExpression } from '../rules/kinds/writers.ts'

/** An operation of a JSON Patch (RFC 6902). */
export type Operation =
  | { readonly op: 'add'; readonly path: string; readonly value: string | object }
  | { readonly op: 'remove'; readonly path: string }

const annotationsPath = '/metadata/annotations'
/** `/` in a JSON Pointer (RFC 6901 §3). */
const path = `${annotationsPath}/${changedByAnnotation.replaceAll('/', '~1')}`

/**
 * The requests that are sent, in CEL. What the platform and Kubernetes' own components change is not recorded: a Release names
 * the RemoteSync that set the image.
 */
export const byOthers: { readonly name: string; readonly expression: string } = {
  name: 'not-by-kubernetes-or-the-platform',
  expression: `!(${isPlatformExpression(platformIdentities)} || ${isKubernetesExpression(platformIdentities)})`,
}

/**
 * What makes the API server count a new generation of a kind with a status subresource: any change beside metadata and status.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#status-subresource
 */
function isChanged(object: JsonObject, before: JsonObject): boolean {
  const ignored = { metadata: undefined, status: undefined }
  return !sameJson({ ...object, ...ignored }, { ...before, ...ignored })
}

/** The value after the request. What changes no spec keeps it, so that a file without the annotation does not remove it. */
function wantedText({ username: user, login, object, oldObject }: AdmissionRequest): string {
  const before = changedByOf(oldObject)
  if (object && oldObject && !isChanged(object, oldObject)) return before
  return changedByText(before, generationOf(oldObject) + 1, { user, login })
}

/** The patch that sets the annotation, whatever the request says about it; empty when it is right. */
export function recordChange(request: AdmissionRequest): readonly Operation[] {
  const { object } = request
  if (object === undefined || !changedBy.matches.some(match => covers(match, request))) return []
  const wanted = wantedText(request)
  const annotations = objectAt(object, 'metadata', 'annotations')
  const isPresent = annotations !== undefined && Object.hasOwn(annotations, changedByAnnotation)
  if (wanted === '') return isPresent ? [{ op: 'remove', path }] : []
  if (isPresent && annotations[changedByAnnotation] === wanted) return []
  const container: readonly Operation[] = annotations === undefined ? [{ op: 'add', path: annotationsPath, value: {} }] : []
  return [...container, { op: 'add', path, value: wanted }]
}
