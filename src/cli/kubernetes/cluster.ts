// The API server that a command talks to: the client with the person's own rights, and the namespace. Everything that commands
// need of it is imported from here.
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { AppError } from '../../lib/errors.ts'
import type { Destination } from './explained-error.ts'
import { didYouMean } from './similar-names.ts'

/** The field manager of all writes of the command line. */
export const fieldManager = 'sekisho-cli'

export type Cluster = {
  /** Its KubeErrors become sentences with a cure when a command rejects with them. */
  readonly client: KubeClient
  readonly namespace: string
  readonly destination: Destination
}

const maxNames = 20

/**
 * The object of this name in the namespace. Rejects with `not_found`, which lists the objects that exist, and the one that may
 * be meant.
 */
export async function found<T extends KubeObject>(cluster: Cluster, type: ResourceType<T>, name: string): Promise<T> {
  const key = type.namespaced ? { name, namespace: cluster.namespace } : { name }
  return (await cluster.client.get(type, key)) ?? absent(cluster, type, name)
}

/** Rejects as `found` does for an object that does not exist. */
export async function absent(cluster: Cluster, type: ResourceType, name: string): Promise<never> {
  const { client, namespace } = cluster
  const all = await client.list(type, type.namespaced ? { namespace } : {})
  const names = all.map(({ metadata }) => metadata.name)
  const there = names.length === 0 ? 'there are none' : `there are ${listed(names)}`
  throw new AppError(
    'not_found',
    `${type.kind} ${name} does not exist${type.namespaced ? ` in ${namespace}` : ''}; ${there}${didYouMean(name, names)}`,
  )
}

/** What the person may not read counts as absent. */
export async function readable<T>(work: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (isKubeError(error, 403)) return otherwise
    throw error
  }
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).join(', ')
  return names.length > maxNames ? `${shown} and ${names.length - maxNames} more` : shown
}
