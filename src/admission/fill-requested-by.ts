// Fills in `spec.requestedBy` where it is absent, and keeps it true when a colleague changes a RemoteSync with a file that does not
// name anybody. It never overrules what a person wrote: a wrong name is refused by the rule `requested-by`, not corrected.
// See docs/adr/0011-requested-by-is-filled-in.md.
import { remoteSync } from '../api/apps/remote-sync.ts'
import { repositoryGrant } from '../api/github/repository-grant.ts'
import { sameJson } from '../lib/json/same-json.ts'
import { type AdmissionRequest, type Json, objectAt, textIn } from './review.ts'
import { covers, type Match } from './rule.ts'

/** RFC 6902. */
export type JsonPatchOperation = { readonly op: 'add'; readonly path: string; readonly value: string }

export const filledIn: readonly Match[] = [
  { group: repositoryGrant.group, resources: [repositoryGrant.plural], operations: ['CREATE'] },
  { group: remoteSync.group, resources: [remoteSync.plural], operations: ['CREATE', 'UPDATE'] },
]

function withoutRequester(spec: Json): Json {
  const { requestedBy: _, ...rest } = spec
  return rest
}

function requesterFor(request: AdmissionRequest, spec: Json): string | undefined {
  const named = textIn(spec, 'requestedBy')
  const before = request.operation === 'UPDATE' ? objectAt(request.oldObject, 'spec') : undefined
  if (before === undefined) return named === undefined ? request.username : undefined
  const former = textIn(before, 'requestedBy')
  if (named !== undefined && named !== former) return undefined
  const wanted = sameJson(withoutRequester(spec), withoutRequester(before)) ? former : request.username
  return wanted === named ? undefined : wanted
}

/** Nothing to do is an empty list. `add` replaces an existing member (RFC 6902 §4.1). */
export function fillRequestedBy(request: AdmissionRequest): readonly JsonPatchOperation[] {
  const spec = objectAt(request.object, 'spec')
  if (spec === undefined || !filledIn.some(match => covers(match, request))) return []
  const value = requesterFor(request, spec)
  return value === undefined ? [] : [{ op: 'add', path: '/spec/requestedBy', value }]
}
