// Whether instances can be made of a ServiceClass, and what is wrong when not. Pure.
import { serviceClassReasons as reasons } from '../../api/services/service-class.ts'
import type { Refusal } from '../../policy/check.ts'
import type { Facts } from './gather.ts'
import { unsuitable } from './suitable.ts'

export type Decision = { readonly isReachable: boolean; readonly refusal: Refusal | undefined }

/** The first thing that keeps the server from being shared. A store is tried by each credential: each is proven. */
export function decide({ missing, trouble, answer }: Facts): Decision {
  if (missing !== undefined) return unreachable(reasons.adminSecretMissing, missing)
  if (trouble?.kind === 'login') return unreachable(reasons.loginRefused, trouble.message)
  if (trouble?.kind === 'refused') return unreachable(reasons.rightsInsufficient, trouble.message)
  if (answer === undefined) return unreachable(reasons.serverUnreachable, trouble?.message ?? 'the server was not asked')
  return { isReachable: true, refusal: answer.type === 'postgresql' ? unsuitable(answer) : undefined }
}

function unreachable(reason: string, message: string): Decision {
  return { isReachable: false, refusal: { reason, message } }
}
