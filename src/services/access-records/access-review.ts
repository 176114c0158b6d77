// What an AdmissionReview says about a change of access, and the record of it. Pure. Objects are unchecked JSON: nothing in them
// makes it fail, and nothing of their content is recorded but identifiers and a digest.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
import { type AccessOperation, accessKinds } from '../../api/audit/access-kinds.ts'
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { specDigest } from '../../api/audit/spec-digest.ts'
import { loginExtra } from '../../api/names.ts'
import type { ResourceType } from '../../api/resource.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import { AppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import { asObject, type JsonObject, listAt, objectAt, textAt } from '../../lib/json/json-value.ts'
import { sameJson } from '../../lib/json/same-json.ts'

/** A request of a user, of a kind that decides about access. */
export type AccessReview = {
  /** The UID of the request. */
  readonly request: string
  readonly operation: AccessOperation
  readonly type: ResourceType
  readonly username: string
  readonly login: string | undefined
  /** As it is to be; of a DELETE, as it is. */
  readonly object: JsonObject
}

/** The answer that every review gets: this webhook records, and never decides. */
export function allowed(request: string): string {
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: request, allowed: true },
  })
}

/**
 * The UID of the request, and what it changes: undefined for a dry run, for what changes no spec, for what is ending already,
 * and for kinds and operations that decide nothing. Throws `invalid_request` for what is not a review, which for the API server
 * is a webhook that is down.
 */
export function readReview(body: unknown): { readonly request: string; readonly change: AccessReview | undefined } {
  const review = objectAt(body, 'request')
  const user = objectAt(review, 'userInfo')
  const request = textAt(review, 'uid')
  const username = textAt(user, 'username')
  if (textAt(asObject(body), 'apiVersion') !== 'admission.k8s.io/v1' || !request || !username)
    throw new AppError('invalid_request', 'the body must be an AdmissionReview of admission.k8s.io/v1 with a request of a user')
  const operation = textAt(review, 'operation')
  const { group, resource } = { ...objectAt(review, 'resource') }
  const found = accessKinds.find(({ type }) => type.plural === resource && groupOf(type) === group)
  const isAbout = found?.operations.find(one => one === operation)
  const [before, after] = [objectAt(review, 'oldObject'), objectAt(review, 'object')]
  const object = isAbout === 'DELETE' ? before : after
  if (!found || !isAbout || !object || review?.['dryRun'] === true || textAt(review, 'subResource'))
    return { request, change: undefined }
  if (isAbout === 'UPDATE' && sameJson(before?.['spec'], after?.['spec'])) return { request, change: undefined }
  // A second request to delete it ends nothing.
  if (isAbout === 'DELETE' && textAt(objectAt(object, 'metadata'), 'deletionTimestamp')) return { request, change: undefined }
  const login = listAt(objectAt(user, 'extra'), loginExtra)[0]
  return {
    request,
    change: {
      ...{ request, operation: isAbout, type: found.type, username, object },
      login: typeof login === 'string' ? login : undefined,
    },
  }
}

function groupOf({ apiVersion }: ResourceType): string {
  return apiVersion.slice(0, apiVersion.indexOf('/'))
}

/** The record of a change that was asked for. */
export function changingRecord({ request, operation, type, username, login, object }: AccessReview): AuditRecord {
  const metadata = objectAt(object, 'metadata')
  const [name, namespace] = [textAt(metadata, 'name') ?? '', textAt(metadata, 'namespace')]
  const generation = metadata?.['generation']
  // A Tenant is in no namespace; its people read what is recorded of the namespace that it makes.
  const place = type.kind === tenant.kind ? textAt(objectAt(object, 'spec'), 'namespace') : namespace
  return {
    action: 'access.changing',
    actor: username,
    ...defined({ namespace: place }),
    object: [type.kind, ...(namespace === undefined ? [] : [namespace]), name].join('/'),
    outcome: 'allowed',
    reason: `${operation} of ${type.kind} ${name} was asked for`,
    details: {
      operation,
      request,
      uid: textAt(metadata, 'uid') ?? '',
      ...defined({ login, generation: typeof generation === 'number' ? generation : undefined }),
      ...(operation === 'DELETE' ? {} : { specDigest: specDigest(object['spec']) }),
    },
  }
}
