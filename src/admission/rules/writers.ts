// What the rules for kinds that tenants must never write have in common: controllers write status and metadata such as finalizers,
// Kubernetes' reapers delete and change metadata, and no other user may write.
import { sameJson } from '../../lib/json/same-json.ts'
import type { PlatformIdentities } from '../identities.ts'
import type { AdmissionRequest } from '../review.ts'
import { celList } from '../rule.ts'

/** An update of the object itself that leaves its spec unchanged: labels, annotations, finalizers, owners. */
function isMetadataOnly({ operation, subResource, object, oldObject }: AdmissionRequest): boolean {
  return operation === 'UPDATE' && subResource === undefined && sameJson(object?.['spec'], oldObject?.['spec'])
}

/** True for the writes that controllers and reapers need. */
export function mayMaintain(request: AdmissionRequest, identities: PlatformIdentities): boolean {
  const { username, subResource, operation } = request
  if (identities.controllers.includes(username) && (subResource === 'status' || isMetadataOnly(request))) return true
  return identities.reapers.includes(username) && (operation === 'DELETE' || isMetadataOnly(request))
}

/** The CEL twin of `isMetadataOnly`, as a variable of the policy. */
export const metadataOnlyVariable = {
  name: 'metadataOnly',
  expression: "request.operation == 'UPDATE' && !has(request.subResource) && object.?spec == oldObject.?spec",
}

/** The CEL twin of `mayMaintain`; needs `metadataOnlyVariable`. */
export function mayMaintainExpression(identities: PlatformIdentities): string {
  const controllers = `request.userInfo.username in ${celList(identities.controllers)}`
  const reapers = `request.userInfo.username in ${celList(identities.reapers)}`
  const status = "(has(request.subResource) && request.subResource == 'status')"
  return `(${controllers} && (${status} || variables.metadataOnly)) || (${reapers} && (request.operation == 'DELETE' || variables.metadataOnly))`
}

/** True when the user is in one of the groups. */
export function isInGroup(request: AdmissionRequest, groups: readonly string[]): boolean {
  return request.groups.some(group => groups.includes(group))
}

/** The CEL twin of `isInGroup`. */
export function isInGroupExpression(groups: readonly string[]): string {
  return `request.userInfo.?groups.orValue([]).exists(g, g in ${celList(groups)})`
}
