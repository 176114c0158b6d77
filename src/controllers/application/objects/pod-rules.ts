// What a rendered pod may not do, whatever the chart says: hold a token of the Kubernetes API, or refer to a Secret of the platform.
// The last net behind Pod Security and admission. Pure; looks at plain JSON that a chart made.
import { reservedSecretPrefix } from '../../../api/names.ts'

type Json = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((current, name) => (isJsonObject(current) ? current[name] : undefined), value)
}

/** Where the workload kinds that a chart may render have their pod template; undefined for kinds without pods. */
export function podTemplatePath(object: Json): readonly string[] | undefined {
  if (object['kind'] === 'CronJob') return ['spec', 'jobTemplate', 'spec', 'template']
  return object['kind'] === 'Deployment' || object['kind'] === 'Job' ? ['spec', 'template'] : undefined
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

/** Why the pods of this object are refused. */
export function podProblem(object: Json): string | undefined {
  const path = podTemplatePath(object)
  const template = path && at(object, ...path)
  if (!isJsonObject(template)) return undefined
  if (at(template, 'spec', 'automountServiceAccountToken') !== false)
    return 'spec.template.spec.automountServiceAccountToken must be false'
  const volumes = at(template, 'spec', 'volumes')
  if (JSON.stringify(volumes ?? []).includes('"serviceAccountToken"')) return 'volumes must not project a ServiceAccount token'
  const reserved = reservedSecretIn(at(template, 'spec'), false)
  return reserved === undefined
    ? undefined
    : `pods must not refer to the Secret ${reserved}: names that begin with ${reservedSecretPrefix} are the platform's`
}
