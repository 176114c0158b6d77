// `sekisho ps`: the pods of the Applications, by process.
import type { Pod } from '../../../api/builtin/core.ts'
import { labels } from '../../../api/names.ts'
import { found } from '../../kubernetes/cluster.ts'
import { applications } from '../../kubernetes/kinds.ts'
import { age, type ClusterFormat, present, table } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { hasEnded, podState, pods, podsOf, processOf } from './pods.ts'

/** Prints one line for each pod; without a name, for those of all Applications of the namespace. */
export async function ps(context: ClusterContext, options: { readonly output: ClusterFormat }, name?: string): Promise<void> {
  const { cluster, clock, terminal } = context
  const { client, namespace } = cluster
  if (name !== undefined) await found(cluster, applications, name)
  const all =
    name === undefined ? await client.list(pods, { namespace, labelSelector: labels.application }) : await podsOf(cluster, name)
  const value = all.map(line)
  const rows = value.map(pod => [
    pod.application,
    pod.process,
    pod.pod,
    pod.state,
    pod.ended ? '-' : pod.ready ? 'yes' : 'no',
    String(pod.restarts),
    age(pod.since, clock.now()),
  ])
  const text = (): string =>
    rows.length === 0
      ? `no pods ${name === undefined ? '' : `of ${name} `}run in ${namespace}`
      : table(['APPLICATION', 'PROCESS', 'POD', 'STATE', 'READY', 'RESTARTS', 'AGE'], rows)
  await present(terminal, options.output, { value, text })
}

function line(pod: Pod) {
  const { text, ready, restarts } = podState(pod)
  return {
    application: pod.metadata.labels?.[labels.application] ?? '',
    process: processOf(pod),
    pod: pod.metadata.name,
    state: text,
    ready,
    ended: hasEnded(pod),
    restarts,
    since: pod.status?.startTime ?? pod.metadata.creationTimestamp,
  }
}
