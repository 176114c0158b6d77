// Answers a review by the list of rules. Fails closed: it refuses when a rule throws, when no rule matches the resource
// (registration and rules have drifted apart).
import { AppError, messageOf } from '../lib/errors.ts'
import { type Log, redactTokens } from '../lib/log.ts'
import type { FindSealer } from './app-secrets/public-key.ts'
import { sealValues } from './app-secrets/seal-values.ts'
import { recordChange } from './changed-by/record-change.ts'
import { fillRequestedBy } from './fill-requested-by.ts'
import { platformIdentities } from './identities.ts'
import type { AdmissionRequest } from './review.ts'
import { covers, type Rule } from './rule.ts'
import { policyWarnings } from './warnings/policy-warnings.ts'

/** The response of an AdmissionReview v1. */
export type AdmissionResponse = {
  readonly uid: string
  readonly allowed: boolean
  readonly status?: { readonly code: number; readonly reason: string; readonly message: string }
  /** Shown to whoever sent the request. */
  readonly warnings?: readonly string[]
  readonly patchType?: 'JSONPatch'
  readonly patch?: string
}

/** The rules and the clock of one review. */
export type DispatchDeps = {
  readonly rules: readonly Rule[]
  readonly log: Log
  /** Milliseconds since the request arrived. */
  readonly elapsedMilliseconds: () => number
}

/** Below the shortest timeout of the registrations. */
const deadlineMilliseconds = 1500

/**
 * The validating answer: the first refusal of a rule that matches the request. Throws only `unavailable`, when it is too late
 * to evaluate it: for the API server that is a webhook which is down, so that the policies judge alone, or the request is
 * refused where there are none.
 */
export function evaluate(deps: DispatchDeps, request: AdmissionRequest): AdmissionResponse {
  const matching = deps.rules.filter(rule => rule.matches.some(match => covers(match, request)))
  if (matching.length === 0) return refused(request, 500, 'InternalError', `no admission rule matches ${nameOf(request)}`)
  for (const rule of matching) {
    if (deps.elapsedMilliseconds() > deadlineMilliseconds)
      throw new AppError('unavailable', 'the request could not be evaluated in time: try again')
    const refusal = refusalBy(rule, deps, request)
    if (refusal !== undefined) return refusal
  }
  return { uid: request.uid, allowed: true }
}

function refusalBy(rule: Rule, deps: DispatchDeps, request: AdmissionRequest): AdmissionResponse | undefined {
  try {
    const message = rule.check(request, platformIdentities)
    if (message === undefined) return undefined
    deps.log.info(
      { rule: rule.name, user: request.username, request: nameOf(request), namespace: request.namespace },
      'write refused',
    )
    return refused(request, 403, 'Forbidden', message)
  } catch (error) {
    deps.log.error({ rule: rule.name, error: redactTokens(messageOf(error)) }, 'admission rule failed')
    return refused(request, 500, 'InternalError', `the admission rule ${rule.name} failed: the request is refused`)
  }
}

/** The mutating answer in which the name of the requester is filled in: always allowed, since only rules refuse. */
export function fill(request: AdmissionRequest): AdmissionResponse {
  return patched(request, fillRequestedBy(request))
}

/** The mutating answer in which an Application gets the name of whoever changes it: always allowed, since only rules refuse. */
export function record(request: AdmissionRequest): AdmissionResponse {
  return patched(request, recordChange(request))
}

/** The mutating answer about an AppSecret: its values are sealed, or refused. Nothing about them is logged. */
export async function seal(request: AdmissionRequest, findSealer: FindSealer): Promise<AdmissionResponse> {
  const sealing = await sealValues(request, findSealer)
  return sealing.kind === 'refused' ? refused(request, 403, 'Forbidden', sealing.message) : patched(request, sealing.operations)
}

/** The validating answer about a dry run: always allowed, with what to know before the write. */
export function warn(request: AdmissionRequest): AdmissionResponse {
  const warnings = policyWarnings(request)
  return { uid: request.uid, allowed: true, ...(warnings.length > 0 ? { warnings } : {}) }
}

function patched(request: AdmissionRequest, operations: readonly object[]): AdmissionResponse {
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
