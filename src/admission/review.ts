// The part of AdmissionReview v1 that rules read. Parsing is strict about the user, the resource and the operation. Objects
// stay unchecked JSON: a rule reads the fields that it needs by the guards of json-value.ts and must not fail on any content.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
import { loginExtra } from '../api/names.ts'
import { AppError } from '../lib/errors.ts'
import { asObject, type JsonObject, objectAt, textAt } from '../lib/json/json-value.ts'

/** The operations of admission; CONNECT is an attach or exec to a pod, which has no `object` of the pod. */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The request of a review. */
export type AdmissionRequest = {
  readonly uid: string
  readonly operation: Operation
  readonly group: string
  readonly resource: string
  /** Absent for the object itself. */
  readonly subResource: string | undefined
  readonly namespace: string | undefined
  /** Of the object, or of the pod that a CONNECT is about; absent where the API server makes it. */
  readonly name?: string | undefined
  readonly username: string
  /** `loginExtra` of the user: whatever the API server says, for display only. */
  readonly login: string | undefined
  /** Nothing is stored. */
  readonly dryRun?: boolean
  /** Absent on DELETE. */
  readonly object: JsonObject | undefined
  /** Absent on CREATE. */
  readonly oldObject: JsonObject | undefined
}

const operations: readonly string[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] satisfies Operation[]

/**
 * Throws `invalid_request` for anything but a review; the server then answers 400, which for the API server is a webhook that
 * is down.
 */
export function admissionRequest(body: unknown): AdmissionRequest {
  const review = asObject(body)
  const request = asObject(review?.['request'])
  const resource = asObject(request?.['resource'])
  const user = asObject(request?.['userInfo'])
  const operation = request?.['operation']
  if (review?.['apiVersion'] !== 'admission.k8s.io/v1' || !request || !resource || !user)
    throw new AppError('invalid_request', 'the body must be an AdmissionReview of admission.k8s.io/v1 with a request')
  if (typeof operation !== 'string' || !operations.includes(operation))
    throw new AppError('invalid_request', 'request.operation is not one of CREATE, UPDATE, DELETE, CONNECT')
  return {
    uid: requiredText(request, 'uid'),
    operation: operation as Operation,
    group: textAt(resource, 'group') ?? '',
    resource: requiredText(resource, 'resource'),
    subResource: textAt(request, 'subResource') || undefined,
    namespace: textAt(request, 'namespace') || undefined,
    name: textAt(request, 'name') || undefined,
    username: requiredText(user, 'username'),
    login: firstText(objectAt(user, 'extra')?.[loginExtra]),
    dryRun: request['dryRun'] === true,
    object: asObject(request['object']),
    oldObject: asObject(request['oldObject']),
  }
}

function firstText(values: unknown): string | undefined {
  const first: unknown = Array.isArray(values) ? values[0] : undefined
  return typeof first === 'string' ? first : undefined
}

function requiredText(value: JsonObject, field: string): string {
  const found = textAt(value, field)
  if (found === undefined || found === '') throw new AppError('invalid_request', `request: ${field} is missing`)
  return found
}
