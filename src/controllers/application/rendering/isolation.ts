// What makes the pods of an isolated Application harmless to the tenant, whatever a chart rendered: the label by which the
// network policies of the namespace cut them off, a ServiceAccount that no grant can name, and no Secret, ConfigMap or volume
// but its own. Pure; reads unchecked JSON.
import { usedSecrets } from '../../../api/apps/application/secret-uses.ts'
import { appSecretSecretName, isolatedServiceAccount, labels } from '../../../api/names.ts'
import { isJsonObject, type JsonObject, objectAt } from '../../../lib/json/json-value.ts'
import type { ChartInput } from '../../../services/charts/chart-input.ts'
import { podTemplatePath } from './pod-rules.ts'

/** Labels of every pod of the Application; none when it is not isolated. Tenants can neither set nor remove them. */
export function isolationLabels(isolated: boolean | undefined): Readonly<Record<string, string>> {
  return isolated === true ? { [labels.isolated]: 'true' } : {}
}

/** The spec of its pods. The environment of pods also lists the Services of the namespace, unless links are off. */
export function isolatedPodSpec(spec: JsonObject, isolated: boolean | undefined): JsonObject {
  if (isolated !== true) return spec
  const { serviceAccount: _former, ...rest } = spec
  return { ...rest, serviceAccountName: isolatedServiceAccount, enableServiceLinks: false }
}

/** What an Application may give to its pods when it is isolated. */
export type Environment = Partial<Pick<ChartInput, 'env' | 'envFrom'>>

type Reference = { readonly kind: 'Secret' | 'ConfigMap' | 'PersistentVolumeClaim'; readonly name: string }

/** The kubelet alone reads these, to pull the image. */
const pullKey = 'imagePullSecrets'

/**
 * The field says what an object in it names: `secretRef`, `secretKeyRef`, a volume of `secret`, `nodePublishSecretRef` and so
 * on.
 */
function kindOf(field: string): Reference['kind'] | undefined {
  if (field === 'persistentVolumeClaim') return 'PersistentVolumeClaim'
  if (field.startsWith('configMap')) return 'ConfigMap'
  return /secret/i.test(field) ? 'Secret' : undefined
}

function referencesIn(value: unknown): readonly Reference[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn)
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([field, item]) => {
    const kind = kindOf(field)
    if (field === pullKey) return []
    if (kind === undefined || !isJsonObject(item)) return referencesIn(item)
    const name = item['name'] ?? item['secretName'] ?? item['claimName']
    return [{ kind, name: typeof name === 'string' ? name : '' }]
  })
}

/** The names that the Application itself says, or that the same rendering makes. */
function isOwn({ kind, name }: Reference, { env = [], envFrom = [] }: Environment, rendered: readonly JsonObject[]): boolean {
  if (kind === 'Secret') return usedSecrets({ env, envFrom }).some(secret => appSecretSecretName(secret) === name)
  if (rendered.some(object => object['kind'] === kind && objectAt(object, 'metadata')?.['name'] === name)) return true
  const named = [...env.map(({ from }) => from?.configMap?.name), ...envFrom.map(({ configMap }) => configMap)]
  return kind === 'ConfigMap' && named.includes(name)
}

/**
 * What the pods of this object would get beyond what the isolated Application names; undefined for nothing. A chart that gives
 * all Applications a Secret would otherwise give it to code that is not trusted, too.
 */
export function brokenIsolationRule(
  object: JsonObject,
  environment: Environment,
  rendered: readonly JsonObject[],
): string | undefined {
  const path = podTemplatePath(object)
  const spec = path && objectAt(object, ...path, 'spec')
  const foreign = referencesIn(spec).find(reference => !isOwn(reference, environment, rendered))
  return (
    foreign &&
    `pods of an isolated Application must not refer to ${foreign.kind} ${foreign.name}, which its env and envFrom do not name: the chart can leave it out where its input is isolated`
  )
}
