// The part of SubjectAccessReview v1 that the decision reads, and its answers. The API server sends one for each request that its
// match conditions select (match-conditions.ts).
// Source: https://kubernetes.io/docs/reference/access-authn-authz/webhook/
import { AppError } from '../lib/errors.ts'
import { asObject, type JsonObject, listAt, objectAt, textAt } from '../lib/json/json-value.ts'

/** What somebody asks for. Texts that the API server leaves out are empty. */
export type AskedResource = {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  /** Of one object; also where a list or watch selects exactly one by `metadata.name`. */
  readonly name: string
}

export type AccessReview = {
  readonly user: string
  readonly groups: readonly string[]
  /** Absent for what is no resource, such as `/version`. */
  readonly resource: AskedResource | undefined
}

const apiVersion = 'authorization.k8s.io/v1'
const kind = 'SubjectAccessReview'

/**
 * Throws `invalid_request` for anything but a review; the server then answers 400, which for the API server is an authorizer
 * that is down. A real review always has a user.
 */
export function accessReview(body: unknown): AccessReview {
  const review = asObject(body)
  const spec = objectAt(body, 'spec')
  if (review?.['apiVersion'] !== apiVersion || review['kind'] !== kind || spec === undefined)
    throw new AppError('invalid_request', `the body must be a ${kind} of ${apiVersion} with a spec`)
  const asked = asObject(spec['resourceAttributes'])
  return {
    user: textAt(spec, 'user') ?? '',
    groups: listAt(spec, 'groups').filter(group => typeof group === 'string'),
    resource: asked === undefined ? undefined : askedResource(asked),
  }
}

function askedResource(asked: JsonObject): AskedResource {
  const text = (field: string): string => textAt(asked, field) ?? ''
  return {
    verb: text('verb'),
    group: text('group'),
    resource: text('resource'),
    subresource: text('subresource'),
    namespace: text('namespace'),
    name: text('name'),
  }
}

const noOpinion = JSON.stringify({ apiVersion, kind, status: { allowed: false } })

/** The answer: denied for this reason, or no opinion. There is no third one: this authorizer never allows. */
export function reviewAnswer(reason: string | undefined): string {
  if (reason === undefined) return noOpinion
  return JSON.stringify({ apiVersion, kind, status: { allowed: false, denied: true, reason } })
}
