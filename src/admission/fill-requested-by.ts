// Fills in `spec.requestedBy` where it is absent, and keeps it true when a colleague changes an object with a file that omits
// the field. It never replaces a name that a person wrote: the rule `requested-by` refuses a wrong one. See
// docs/adr/0011-requested-by-is-filled-in.md.
import { delegatingKinds } from '../api/registry.ts'
import { type JsonObject, objectAt, textAt } from '../lib/json/json-value.ts'
import { sameJson } from '../lib/json/same-json.ts'
import type { AdmissionRequest } from './review.ts'
import { covers } from './rule.ts'
import { requestedBy } from './rules/kinds/requested-by.ts'
import { isControlledBy, isControlledByExpression } from './rules/owner-kinds.ts'

/** One operation of a JSON Patch (RFC 6902). */
export type JsonPatchOperation = { readonly op: 'add'; readonly path: string; readonly value: string }

function withoutRequester(spec: JsonObject): JsonObject {
  const { requestedBy: _, ...rest } = spec
  return rest
}

function requesterFor(request: AdmissionRequest, spec: JsonObject): string | undefined {
  const named = textAt(spec, 'requestedBy')
  const before = request.operation === 'UPDATE' ? objectAt(request.oldObject, 'spec') : undefined
  if (before === undefined) return named === undefined ? request.username : undefined
  const former = textAt(before, 'requestedBy')
  if (named !== undefined && named !== former) return undefined
  // It names the person of its owner, whoever changes it: the controllers do, and the rule refuses it to others.
  if (named === former && isControlledBy(delegatingKinds, request.object)) return undefined
  const wanted = sameJson(withoutRequester(spec), withoutRequester(before)) ? former : request.username
  return wanted === named ? undefined : wanted
}

/**
 * The requests whose name `fillRequestedBy` sets, in CEL: only these are sent, so that a write which says whose it is does not
 * depend on the webhook.
 */
export const needsRequester = {
  name: 'name-must-be-filled-in',
  expression: [
    '!object.?spec.?requestedBy.hasValue()',
    " || (request.operation == 'UPDATE' && object.spec.requestedBy != request.userInfo.username",
    ' && object.?spec.?requestedBy == oldObject.?spec.?requestedBy && object.spec != oldObject.spec',
    ` && !${isControlledByExpression(delegatingKinds, 'object')})`,
  ].join(''),
}

/** The patch that sets the name; empty when there is nothing to set. `add` replaces an existing member (RFC 6902 §4.1). */
export function fillRequestedBy(request: AdmissionRequest): readonly JsonPatchOperation[] {
  const spec = objectAt(request.object, 'spec')
  if (spec === undefined || !requestedBy.matches.some(match => covers(match, request))) return []
  const value = requesterFor(request, spec)
  return value === undefined ? [] : [{ op: 'add', path: '/spec/requestedBy', value }]
}
