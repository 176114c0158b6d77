// `sekisho env list`: the variables of an Application and of its services, and the ConfigMaps and AppSecrets whose keys all
// become variables. What secrets hold is in no answer of the API; of ConfigMaps only the keys are shown.
import type { AppSecret } from '../../../api/apps/app-secret.ts'
import type { Application } from '../../../api/apps/application.ts'
import { type ConfigMap, configMaps } from '../../../api/builtin/core.ts'
import { type ServiceUse, serviceEnvironment, serviceOf } from '../../../api/services/application-services.ts'
import { isKubeError, lacksRight } from '../../../kube/client/errors.ts'
import { messageOf } from '../../../lib/errors.ts'
import { type Cluster, found } from '../../kubernetes/cluster.ts'
import { explained } from '../../kubernetes/explained-error.ts'
import { applications, appSecrets } from '../../kubernetes/kinds.ts'
import { type ClusterFormat, present, table } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'

type Options = { readonly output: ClusterFormat }

type Variable = NonNullable<Application['spec']['env']>[number]
type Service = NonNullable<Application['spec']['services']>[number]
type Source = NonNullable<Application['spec']['envFrom']>[number]

/** What is known of one entry of `spec.envFrom`: its keys, or why they are not known. */
type Known = { readonly keys: readonly string[] } | { readonly problem: string }

/**
 * One entry of `spec.envFrom` as it is printed. `overridden` are keys whose value comes from a later entry or from `spec.env`.
 */
type Row = Source & Known & { readonly overridden?: readonly string[] }

/** The value, or where it comes from: a secret's value is in no answer of the API. */
function shownValue({ value, from }: Variable): string {
  if (from?.secret !== undefined) return `(key ${from.secret.key} of AppSecret ${from.secret.name})`
  if (from?.configMap !== undefined) return `(key ${from.configMap.key} of ConfigMap ${from.configMap.name})`
  return value ?? ''
}

/** The variables of one service: the values are in no answer of the API. */
function serviceCells(service: Service): readonly (readonly string[])[] {
  const use: ServiceUse = service
  const { kind, name } = serviceOf(use)
  return Object.entries(serviceEnvironment(use)).map(([variable, key]) => [
    variable,
    `(key ${key} of service ${service.name}, ${kind} ${name})`,
  ])
}

function keysOf(source: Source, object: ConfigMap | AppSecret): readonly string[] {
  if (source.secret === undefined) return Object.keys((object as ConfigMap).data ?? {}).sort()
  return ((object as AppSecret).status?.keys ?? []).map(({ name }) => name).sort()
}

/** Reads one source with the person's own rights. Rejects only when the API server does not answer. */
async function known({ client, namespace, destination }: Cluster, source: Source): Promise<Known> {
  const { configMap, secret } = source
  try {
    const object =
      secret === undefined
        ? await client.get(configMaps, { name: configMap ?? '', namespace })
        : await client.get(appSecrets, { name: secret, namespace })
    if (object === undefined) return { problem: 'it does not exist: pods do not start without it' }
    return { keys: keysOf(source, object) }
  } catch (error) {
    if (isKubeError(error) && lacksRight(error)) return { problem: messageOf(await explained(error, destination)) }
    throw error
  }
}

/** Later entries win over earlier ones, and `spec.env` over all. */
function withOverridden(sources: readonly (Source & Known)[], env: readonly Variable[]): readonly Row[] {
  const taken = new Set(env.map(({ name }) => name))
  const rows: Row[] = []
  for (const source of [...sources].reverse()) {
    if ('problem' in source) rows.unshift(source)
    else {
      rows.unshift({ ...source, overridden: source.keys.filter(key => taken.has(key)) })
      for (const key of source.keys) taken.add(key)
    }
  }
  return rows
}

function sourceCells(row: Row): readonly string[] {
  const name = row.secret === undefined ? `ConfigMap ${row.configMap}` : `AppSecret ${row.secret}`
  if ('problem' in row) return [name, `(${row.problem})`]
  const keys = row.keys.map(key => (row.overridden?.includes(key) === true ? `${key} (overridden)` : key))
  return [name, keys.join(', ') || '(it has no keys)']
}

/** Prints names and values, and the keys of each source. */
export async function envList({ terminal, cluster }: ClusterContext, { output }: Options, name: string): Promise<void> {
  const { spec } = await found(cluster, applications, name)
  const env = spec.env ?? []
  const services = spec.services ?? []
  const sources = await Promise.all((spec.envFrom ?? []).map(async source => ({ ...source, ...(await known(cluster, source)) })))
  const envFrom = withOverridden(sources, env)
  const variables = (): string =>
    table(['NAME', 'VALUE'], [...env.map(variable => [variable.name, shownValue(variable)]), ...services.flatMap(serviceCells)])
  const text = (): string => {
    const none = env.length === 0 && services.flatMap(serviceCells).length === 0
    if (none && envFrom.length === 0) return `${name} has no environment variables; sekisho env set ${name} KEY=value sets one`
    const parts = none ? [] : [variables()]
    if (envFrom.length > 0) parts.push(table(['ALL KEYS OF', 'KEYS'], envFrom.map(sourceCells)))
    return parts.join('\n\n')
  }
  await present(terminal, output, { value: { env, envFrom, ...(services.length === 0 ? {} : { services }) }, text })
}
