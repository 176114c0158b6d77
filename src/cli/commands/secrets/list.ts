// `sekisho secrets list`: names, versions and users of secret values. The values are in no answer of the API.

import type { AppSecret } from '../../../api/apps/app-secret.ts'
import { secretUses } from '../../../api/apps/application/secret-uses.ts'
import type { Application } from '../../../api/apps/application.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { found } from '../../kubernetes/cluster.ts'
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

/** One line for each value; says of each AppSecret that is not ready why. */
export async function secretsList(
  { terminal, cluster, clock }: ClusterContext,
  { output }: Options,
  name?: string,
): Promise<void> {
  const { client, namespace } = cluster
  const chosen = name === undefined ? await client.list(appSecrets, { namespace }) : [await found(cluster, appSecrets, name)]
  const all = await client.list(applications, { namespace })
  const value = chosen.flatMap(appSecret => rowsOf(appSecret, all))
  const text = (): string =>
    value.length === 0
      ? 'there are no secret values; sekisho secrets set <application> KEY sets one'
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
