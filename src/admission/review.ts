// The part of AdmissionReview v1 that rules read, and the answers. Parsing is strict about what decides (who, what, which operation)
// and keeps objects as unknown JSON: a rule asks for what it needs and must survive anything.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
import { AppError } from '../lib/errors.ts'

export type Json = Readonly<Record<string, unknown>>

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

export type AdmissionRequest = {
  readonly uid: string
  readonly operation: Operation
  readonly group: string
  readonly resource: string
  /** Absent for the object itself. */
  readonly subResource: string | undefined
  readonly namespace: string | undefined
  readonly username: string
  readonly groups: readonly string[]
  /** Absent on DELETE. */
  readonly object: Json | undefined
  /** Absent on CREATE. */
  readonly oldObject: Json | undefined
}

const operations: readonly string[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] satisfies Operation[]

/** Throws `invalid_request`; the server then answers 400, which the API server takes for a failure and so refuses the write. */
export function admissionRequest(body: unknown): AdmissionRequest {
  const review = objectIn(body)
  const request = objectIn(review?.['request'])
  const resource = objectIn(request?.['resource'])
  const user = objectIn(request?.['userInfo'])
  const operation = request?.['operation']
  if (review?.['apiVersion'] !== 'admission.k8s.io/v1' || !request || !resource || !user)
    throw new AppError('invalid_request', 'the body must be an AdmissionReview of admission.k8s.io/v1 with a request')
  if (typeof operation !== 'string' || !operations.includes(operation))
    throw new AppError('invalid_request', 'request.operation is not one of CREATE, UPDATE, DELETE, CONNECT')
  return {
    uid: requiredText(request, 'uid'),
    operation: operation as Operation,
    group: textIn(resource, 'group') ?? '',
    resource: requiredText(resource, 'resource'),
    subResource: textIn(request, 'subResource') || undefined,
    namespace: textIn(request, 'namespace') || undefined,
    username: requiredText(user, 'username'),
    groups: listIn(user, 'groups').filter(group => typeof group === 'string'),
    object: objectIn(request['object']),
    oldObject: objectIn(request['oldObject']),
  }
}

export function objectIn(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
}

/** Follows a path of fields; undefined when anything on the way is missing or no object. */
export function objectAt(value: unknown, ...path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((at, field) => objectIn(at?.[field]), objectIn(value))
}

/** The objects of a list; whatever else is in it is left out. */
export function objectsIn(value: Json | undefined, field: string): readonly Json[] {
  return listIn(value, field)
    .map(objectIn)
    .filter(item => item !== undefined)
}

export function textIn(value: Json | undefined, field: string): string | undefined {
  const found = value?.[field]
  return typeof found === 'string' ? found : undefined
}

function listIn(value: Json | undefined, field: string): readonly unknown[] {
  const found = value?.[field]
  return Array.isArray(found) ? found : []
}

function requiredText(value: Json, field: string): string {
  const found = textIn(value, field)
  if (found === undefined || found === '') throw new AppError('invalid_request', `request: ${field} is missing`)
  return found
}
