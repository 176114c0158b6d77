// `sekisho secrets unset`: removes values from an AppSecret.
import { AppError } from '../../../lib/errors.ts'
import { absent, fieldManager, found } from '../../kubernetes/cluster.ts'
import { appSecrets } from '../../kubernetes/kinds.ts'
import { didYouMean } from '../../kubernetes/similar-names.ts'
import { type ClusterFormat, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { restarts, taken, usersOf } from './stored.ts'

type Options = { readonly output: ClusterFormat }

/** Rejects with `not_found` for a value that is not set. */
export async function secretsUnset(
  context: ClusterContext,
  { output }: Options,
  name: string,
  keys: readonly string[],
): Promise<void> {
  const { terminal, cluster } = context
  const before = await found(cluster, appSecrets, name)
  const known = Object.keys(before.spec.sealed)
  for (const key of keys) if (!known.includes(key)) throw new AppError('not_found', `${key} is not set${didYouMean(key, known)}`)
  const users = await usersOf(cluster, name, keys)
  const patch = { spec: { sealed: Object.fromEntries(keys.map(key => [key, null])) } }
  const place = { name, namespace: cluster.namespace }
  const written = await cluster.client.mergePatch(appSecrets, place, patch, { fieldManager })
  const after = await taken(context, written ?? (await absent(cluster, appSecrets, name)))
  const value = { appSecret: name, version: after.status?.version, unset: keys, restarts: users }
  await present(terminal, output, {
    value,
    text: () => `${name}: ${keys.join(', ')} removed, version ${after.status?.version}; ${restarts(users)}`,
  })
}
