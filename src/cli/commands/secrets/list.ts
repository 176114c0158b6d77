// `sekisho secrets list`: names, versions and users of secret values. The values are in no answer of the API.

import type { AppSecret } from '../../../api/apps/app-secret.ts'
import { secretUses } from '../../../api/apps/application/secret-uses.ts'
import type { Application } from '../../../api/apps/application.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { absent, type Cluster } from '../../kubernetes/cluster.ts'
import { applications, appSecrets } from '../../kubernetes/kinds.ts'
import { age, type ClusterFormat, present, table } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'

type Options = { readonly output: ClusterFormat }

type Row = {
  readonly appSecret: string
  readonly key: string
  readonly version: number
  readonly changedAt: string
  readonly usedBy: readonly string[]
}

function rowsOf(appSecret: AppSecret, all: readonly Application[]): readonly Row[] {
  const { name } = appSecret.metadata
  return (appSecret.status?.keys ?? []).map(({ name: key, version, changedAt }) => {
    const uses = ({ spec }: Application): boolean =>
      secretUses(spec).some(use => use.name === name && (use.key === undefined || use.key === key))
    return { appSecret: name, key, version, changedAt, usedBy: all.filter(uses).map(({ metadata }) => metadata.name) }
  })
}

/** An Application without values has no AppSecret. Rejects with `not_found` when there is no Application of the name, either. */
async function chosenSecrets(
  cluster: Cluster,
  all: readonly Application[],
  name: string | undefined,
): Promise<readonly AppSecret[]> {
  const { client, namespace } = cluster
  if (name === undefined) return client.list(appSecrets, { namespace })
  const one = await client.get(appSecrets, { name, namespace })
  if (one !== undefined) return [one]
  return all.some(({ metadata }) => metadata.name === name) ? [] : absent(cluster, appSecrets, name)
}

/** One line for each value; says of each AppSecret that is not ready why. */
export async function secretsList(
  { terminal, cluster, clock }: ClusterContext,
  { output }: Options,
  name?: string,
): Promise<void> {
  const { client, namespace } = cluster
  const all = await client.list(applications, { namespace })
  const chosen = await chosenSecrets(cluster, all, name)
  const value = chosen.flatMap(appSecret => rowsOf(appSecret, all))
  const text = (): string =>
    value.length === 0
      ? `${name ?? namespace} has no secret values; sekisho secrets set ${name ?? '<application>'} KEY sets one`
      : table(
          ['APPSECRET', 'KEY', 'VERSION', 'CHANGED', 'USED BY'],
          value.map(row => [
            row.appSecret,
            row.key,
            String(row.version),
            age(row.changedAt, clock.now()),
            row.usedBy.join(', ') || '-',
          ]),
        )
  await present(terminal, output, { value, text })
  for (const { metadata, status } of chosen) {
    const ready = findCondition(status?.conditions, 'Ready')
    if (ready !== undefined && ready.status !== 'True')
      terminal.say(`${metadata.name} is not ready (${ready.reason}): ${ready.message}`)
  }
}
