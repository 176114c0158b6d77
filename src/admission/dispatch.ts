// Turns a review into its answer by the list of rules. Fails closed: a rule that throws refuses, a resource that no rule knows is
// refused (the registration and the rules have drifted apart), and so is a request that came too late to be judged.

import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { redactTokens } from '../lib/log.ts'
import { fillRequestedBy } from './fill-requested-by.ts'
import type { PlatformIdentities } from './identities.ts'
import type { AdmissionRequest } from './review.ts'
import { covers, type Rule } from './rule.ts'

export type AdmissionResponse = {
  readonly uid: string
  readonly allowed: boolean
  readonly status?: { readonly code: number; readonly reason: string; readonly message: string }
  readonly patchType?: 'JSONPatch'
  readonly patch?: string
}

export type DispatchDeps = {
  readonly rules: readonly Rule[]
  readonly identities: PlatformIdentities
  readonly log: Log
  /** Milliseconds since the request arrived. */
  readonly elapsedMilliseconds: () => number
}

/** Below the timeout of the registration, so that the refusal and its reason still reach the person. */
export const deadlineMilliseconds = 3000

export function judge(deps: DispatchDeps, request: AdmissionRequest): AdmissionResponse {
  const concerned = deps.rules.filter(rule => rule.matches.some(match => covers(match, request)))
  if (concerned.length === 0) return refused(request, 500, 'InternalError', `no admission rule knows ${nameOf(request)}`)
  for (const rule of concerned) {
    if (deps.elapsedMilliseconds() > deadlineMilliseconds)
      return refused(request, 504, 'Timeout', 'the request could not be judged in time: try again')
    const message = judgement(deps, rule, request)
    if (message !== undefined) return message
  }
  return { uid: request.uid, allowed: true }
}

function judgement(deps: DispatchDeps, rule: Rule, request: AdmissionRequest): AdmissionResponse | undefined {
  try {
    const message = rule.check(request, deps.identities)
    if (message === undefined) return undefined
    deps.log.info(
      { rule: rule.name, user: request.username, what: nameOf(request), namespace: request.namespace },
      'write refused',
    )
    return refused(request, 403, 'Forbidden', message)
  } catch (error) {
    deps.log.error({ rule: rule.name, problem: redactTokens(messageOf(error)) }, 'an admission rule failed')
    return refused(request, 500, 'InternalError', `the admission rule ${rule.name} failed: nothing is let through`)
  }
}

/** The mutating answer: allowed always, since refusing is the rules' business. */
export function fill(request: AdmissionRequest): AdmissionResponse {
  const operations = fillRequestedBy(request)
  if (operations.length === 0) return { uid: request.uid, allowed: true }
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64')
  return { uid: request.uid, allowed: true, patchType: 'JSONPatch', patch }
}

function refused(request: AdmissionRequest, code: number, reason: string, message: string): AdmissionResponse {
  return { uid: request.uid, allowed: false, status: { code, reason, message } }
}

function nameOf({ operation, resource, subResource }: AdmissionRequest): string {
  return `${operation} ${subResource === undefined ? resource : `${resource}/${subResource}`}`
}
