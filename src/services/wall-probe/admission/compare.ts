// Compares an object of admission that stands in the cluster with the one that this version ships. Pure. The API server adds
// defaults; every other field that was added, taken away or changed is a difference: a condition or a selector that somebody
// adds can switch a policy off as well as its deletion.
import { isJsonObject, type JsonObject } from '../../../lib/json/json-value.ts'

/** https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/ : what v1 fills in where nothing is said. */
const defaults: Readonly<Record<string, unknown>> = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  reinvocationPolicy: 'Never',
  scope: '*',
  timeoutSeconds: 10,
  port: 443,
}

const maxDifferences = 3

/** Without what equals a default, and without fields that are empty, which mean the same as absent ones. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([key, field]) => [key, plain(field)] as const)
  return Object.fromEntries(entries.filter(([key, field]) => !isEmpty(field) && defaults[key] !== field))
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true
  return Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0
}

/** What decides in an object of admission: `spec`, and webhooks by their names without their authorities. */
export function decisive(object: JsonObject): unknown {
  const { spec, webhooks } = object
  const called = Array.isArray(webhooks)
    ? webhooks.filter(isJsonObject).map(one => [String(one['name']), withoutAuthority(one)])
    : []
  // Two webhooks of one name are refused by the API server.
  return plain({ spec, webhooks: Object.fromEntries(called) })
}

function withoutAuthority(webhook: JsonObject): JsonObject {
  const { clientConfig } = webhook
  if (!isJsonObject(clientConfig)) return webhook
  const { caBundle: _, ...config } = clientConfig
  return { ...webhook, clientConfig: config }
}

/** The paths of the first fields that differ; both values are those of `decisive`. */
export function differences(wanted: unknown, found: unknown): readonly string[] {
  const paths: string[] = []
  collect(wanted, found, { path: '', paths })
  return paths
}

function collect(wanted: unknown, found: unknown, at: { readonly path: string; readonly paths: string[] }): void {
  if (at.paths.length >= maxDifferences || Object.is(wanted, found)) return
  const [a, b] = [asFields(wanted), asFields(found)]
  if (a === undefined || b === undefined) {
    at.paths.push(at.path)
    return
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const path = at.path === '' ? key : `${at.path}.${key}`
    collect(own(a, key), own(b, key), { path, paths: at.paths })
  }
}

function own(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

function asFields(value: unknown): JsonObject | undefined {
  if (Array.isArray(value)) return Object.fromEntries(value.map((item, index) => [String(index), item]))
  return isJsonObject(value) ? value : undefined
}
