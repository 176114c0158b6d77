// What the pods of a chart may not do, whatever the chart says: hold a token of the Kubernetes API, or refer to a Secret of the
// platform. The last line of defence behind Pod Security and admission. Pure; reads unchecked JSON that a chart rendered.
import { reservedSecretPrefix } from '../../../api/names.ts'
import { isJsonObject, type JsonObject, objectAt } from '../../../lib/json/json-value.ts'

/** The path of the pod template in the kinds of workloads that a chart may render; undefined for kinds without pods. */
export function podTemplatePath(object: JsonObject): readonly string[] | undefined {
  if (object['kind'] === 'CronJob') return ['spec', 'jobTemplate', 'spec', 'template']
  return object['kind'] === 'Deployment' || object['kind'] === 'Job' ? ['spec', 'template'] : undefined
}

/** A copy with the value at the path changed; `object` itself where no object is at the path, or without a path. */
export function changedAt(
  object: JsonObject,
  path: readonly string[] | undefined,
  change: (value: JsonObject) => JsonObject,
): JsonObject {
  if (path === undefined) return object
  const [field, ...rest] = path
  if (field === undefined) return change(object)
  const value = object[field]
  return isJsonObject(value) ? { ...object, [field]: changedAt(value, rest, change) } : object
}

/** Keys under which a pod names a Secret: volumes, projected sources, environment and image pull secrets. */
const secretNameKeys: ReadonlySet<string> = new Set(['secretName', 'secretRef', 'secretKeyRef', 'imagePullSecrets', 'secret'])

function reservedSecretIn(value: unknown, insideSecret: boolean): string | undefined {
  if (typeof value === 'string') return insideSecret && value.startsWith(reservedSecretPrefix) ? value : undefined
  if (Array.isArray(value)) return value.map(item => reservedSecretIn(item, insideSecret)).find(found => found !== undefined)
  if (!isJsonObject(value)) return undefined
  return Object.entries(value)
    .map(([key, item]) => reservedSecretIn(item, insideSecret || secretNameKeys.has(key)))
    .find(found => found !== undefined)
}

/** Which rule the pods of this object break; undefined for none, and for an object without pods. */
export function brokenPodRule(object: JsonObject): string | undefined {
  const path = podTemplatePath(object)
  const template = path && objectAt(object, ...path)
  if (!template) return undefined
  const spec = objectAt(template, 'spec')
  if (spec?.['automountServiceAccountToken'] !== false) return 'spec.template.spec.automountServiceAccountToken must be false'
  if (JSON.stringify(spec['volumes'] ?? []).includes('"serviceAccountToken"'))
    return 'volumes must not project a ServiceAccount token'
  const reserved = reservedSecretIn(spec, false)
  return reserved === undefined
    ? undefined
    : `pods must not refer to the Secret ${reserved}: names that begin with ${reservedSecretPrefix} are the platform's`
}
