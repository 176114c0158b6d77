// What the rules for kinds that tenants must never write have in common: controllers write status and metadata such as
// finalizers, Kubernetes' reapers delete and change metadata, and no other user may write.
import { sameJson } from '../../../lib/json/same-json.ts'
import type { PlatformIdentities } from '../../identities.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, type Rule } from '../../rule.ts'

/** An update of the object itself that leaves its spec unchanged: labels, annotations, finalizers, owners. */
function isMetadataOnly({ operation, subResource, object, oldObject }: AdmissionRequest): boolean {
  return operation === 'UPDATE' && subResource === undefined && sameJson(object?.['spec'], oldObject?.['spec'])
}

/** The process that maintains objects of a kind: the controllers unless the rule says otherwise. */
type Maintainers = (identities: PlatformIdentities) => readonly string[]
const ofControllers: Maintainers = ({ controllers }) => controllers

/** True for the writes that the process that maintains the kind and reapers need. */
export function mayMaintain(request: AdmissionRequest, identities: PlatformIdentities, maintainers = ofControllers): boolean {
  const { username, subResource, operation } = request
  if (maintainers(identities).includes(username) && (subResource === 'status' || isMetadataOnly(request))) return true
  return identities.reapers.includes(username) && (operation === 'DELETE' || isMetadataOnly(request))
}

/** The CEL twin of `isMetadataOnly`, as a variable of the policy. */
export const metadataOnlyVariable = {
  name: 'metadataOnly',
  expression: "request.operation == 'UPDATE' && !has(request.subResource) && object.?spec == oldObject.?spec",
}

/** The CEL twin of `mayMaintain`; needs `metadataOnlyVariable`. */
export function mayMaintainExpression(identities: PlatformIdentities, maintainers = ofControllers): string {
  const maintaining = `request.userInfo.username in ${celList(maintainers(identities))}`
  const reapers = `request.userInfo.username in ${celList(identities.reapers)}`
  const status = "(has(request.subResource) && request.subResource == 'status')"
  return `(${maintaining} && (${status} || variables.metadataOnly)) || (${reapers} && (request.operation == 'DELETE' || variables.metadataOnly))`
}

/** What Kubernetes' reapers need, as the exemption that a rule declares. */
export const reaping: NonNullable<Rule['exempts']> = {
  reapers: {
    does: 'deletes objects with their namespace or owner, and changes owners and finalizers on the way',
    follows: [{ template: '`metadata.ownerReferences`', judgedBy: ['reserved-metadata', 'claim-templates'] }],
  },
}

/**
 * The users that `writers` names may write; those that `maintainers` names, the controllers when omitted, and Kubernetes' reapers
 * maintain; others are refused with the message.
 */
export function onlyWrittenBy(
  writers: (identities: PlatformIdentities) => readonly string[],
  message: string,
  maintainers = ofControllers,
): Pick<Rule, 'exempts' | 'check' | 'policy'> {
  return {
    exempts: reaping,
    check: (request, identities) =>
      writers(identities).includes(request.username) || mayMaintain(request, identities, maintainers) ? undefined : message,
    policy: identities => {
      const names = writers(identities)
      const written = names.length === 0 ? [] : [`request.userInfo.username in ${celList(names)}`]
      const expression = [...written, mayMaintainExpression(identities, maintainers)].join(' || ')
      return { variables: [metadataOnlyVariable], validation: { expression, message } }
    },
  }
}

/** True for Kubernetes' own components, which act on what others wrote. */
export function isKubernetes({ username }: AdmissionRequest, { kubernetesPrefixes }: PlatformIdentities): boolean {
  return kubernetesPrefixes.some(prefix => username.startsWith(prefix))
}

/** The CEL twin of `isKubernetes`. */
export function isKubernetesExpression({ kubernetesPrefixes }: PlatformIdentities): string {
  return `${celList(kubernetesPrefixes)}.exists(prefix, request.userInfo.username.startsWith(prefix))`
}

/** The identities of the platform that write objects. */
function writersOf({ brokers, controllers, dataServices }: PlatformIdentities): readonly string[] {
  return [...new Set([...brokers, ...controllers, ...dataServices])]
}

/** True for every identity of the platform that writes objects. */
export function isPlatform({ username }: AdmissionRequest, identities: PlatformIdentities): boolean {
  return writersOf(identities).includes(username)
}

/** The CEL twin of `isPlatform`. */
export function isPlatformExpression(identities: PlatformIdentities): string {
  return `request.userInfo.username in ${celList(writersOf(identities))}`
}
