// `sekisho status`: what runs, whether it is what should run, and if not, why.

import type { Application } from '../../../api/apps/application.ts'
import { runsIn } from '../../../api/apps/remote-sync/applications.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { Pod } from '../../../api/builtin/core.ts'
import { labels } from '../../../api/names.ts'
import type { Condition } from '../../../api/resource.ts'
import { findCondition, reportedGeneration } from '../../../kube/object/conditions.ts'
import { found } from '../../kubernetes/cluster.ts'
import { applications, remoteSyncs } from '../../kubernetes/kinds.ts'
import { type ClusterFormat, present, table } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { hasEnded, podState, pods, processOf } from './pods.ts'

type Options = { readonly output: ClusterFormat }

type Verdict = { readonly ready: boolean; readonly reason: string; readonly message: string }

type ProcessStatus = {
  readonly process: string
  readonly ready: number
  readonly pods: number
  readonly troubles: readonly string[]
}

export type ApplicationStatus = Verdict & {
  readonly application: string
  readonly url: string | undefined
  readonly commit: string | undefined
  readonly image: string | undefined
  readonly release: number | undefined
  /** What the tag means that `spec.followTag` follows, or why that is not known. */
  readonly tag: string | undefined
  /** Set while a release is pinned. */
  readonly pinnedRelease: number | undefined
  readonly processes: readonly ProcessStatus[]
  readonly sources: readonly (Verdict & {
    readonly remoteSync: string
    readonly repository: string
    readonly commit: string | undefined
  })[]
}

/** The condition Ready in words, also while the controller has not seen the newest generation. */
export function verdict({
  metadata,
  status,
}: {
  readonly metadata: { readonly generation?: number }
  readonly status?: { readonly conditions?: readonly Condition[]; readonly observedGeneration?: number }
}): Verdict {
  const ready = findCondition(status?.conditions, 'Ready')
  if (ready === undefined) return { ready: false, reason: 'Pending', message: 'the platform has not looked at it yet' }
  const { reason, message } = ready
  const current = reportedGeneration(status) >= (metadata.generation ?? 0)
  if (!current)
    return { ready: false, reason: 'Pending', message: `the platform has not looked at the newest change yet; before: ${reason}` }
  return { ready: ready.status === 'True', reason, message }
}

/** Pure. */
export function statusOf(application: Application, all: readonly Pod[], syncs: readonly RemoteSync[]): ApplicationStatus {
  const { name } = application.metadata
  const own = all.filter(pod => pod.metadata.labels?.[labels.application] === name && !hasEnded(pod))
  return {
    application: name,
    ...verdict(application),
    url: application.status?.url,
    commit: application.status?.commit,
    image: application.status?.image,
    tag: findCondition(application.status?.conditions, 'Following')?.message,
    release: application.status?.release,
    pinnedRelease: application.spec.pinnedRelease,
    processes: processesOf(own),
    sources: syncs
      .filter(({ spec }) => runsIn(spec, name))
      .map(sync => ({
        remoteSync: sync.metadata.name,
        repository: sync.status?.repository?.name ?? sync.spec.repository,
        commit: sync.status?.commit,
        ...verdict(sync),
      })),
  }
}

function processesOf(own: readonly Pod[]): readonly ProcessStatus[] {
  const names = [...new Set(own.map(processOf))].sort()
  return names.map(process => {
    const states = own.filter(pod => processOf(pod) === process).map(podState)
    const troubles = new Set(states.filter(({ ready }) => !ready).map(({ text }) => text))
    return { process, ready: states.filter(({ ready }) => ready).length, pods: states.length, troubles: [...troubles] }
  })
}

/** Without a name a table of all Applications; with one, everything about it. */
export async function status(context: ClusterContext, options: Options, name?: string): Promise<void> {
  const { cluster, terminal } = context
  const { client, namespace } = cluster
  const chosen = name === undefined ? await client.list(applications, { namespace }) : [await found(cluster, applications, name)]
  const [all, syncs] = await Promise.all([
    client.list(pods, { namespace, labelSelector: labels.application }),
    client.list(remoteSyncs, { namespace }),
  ])
  const statuses = chosen.map(application => statusOf(application, all, syncs))
  const [only] = statuses
  if (name !== undefined && only !== undefined)
    return present(terminal, options.output, { value: only, text: () => details(only) })
  await present(terminal, options.output, { value: statuses, text: () => overview(statuses, namespace) })
}

const short = (commit: string | undefined): string => commit?.slice(0, 8) ?? '-'

function overview(all: readonly ApplicationStatus[], namespace: string): string {
  if (all.length === 0) return `no Applications in ${namespace}`
  const rows = all.map(one => [
    one.application,
    one.ready ? 'yes' : 'no',
    one.reason,
    one.release === undefined ? '-' : `v${one.release}`,
    short(one.commit),
    one.processes.map(({ process, ready, pods: count }) => `${process} ${ready}/${count}`).join(', ') || '-',
    one.url ?? '-',
  ])
  return table(['APPLICATION', 'READY', 'REASON', 'RELEASE', 'COMMIT', 'PODS', 'URL'], rows)
}

function details(one: ApplicationStatus): string {
  const lines = [
    ['Application', one.application],
    ['State', `${one.ready ? 'ready' : 'not ready'}, ${one.reason}: ${one.message}`],
    ['URL', one.url ?? '-'],
    ['Commit', one.commit ?? '-'],
    ['Release', one.release === undefined ? '-' : `v${one.release}${one.pinnedRelease === undefined ? '' : ', pinned'}`],
    ['Image', one.image ?? '-'],
    ...(one.tag === undefined ? [] : [['Tag', one.tag]]),
    ...one.processes.map(({ process, ready, pods: count, troubles }) => [
      `Process ${process}`,
      `${ready} of ${count} pods ready${troubles.length === 0 ? '' : ` (${troubles.join(', ')})`}`,
    ]),
    ...one.sources.map(source => [
      `From ${source.repository}`,
      `RemoteSync ${source.remoteSync}, commit ${short(source.commit)}, ${source.reason}: ${source.message}`,
    ]),
  ]
  const width = Math.max(...lines.map(([label = '']) => label.length))
  const text = lines.map(
    ([label = '', value = '']) => `${label.padEnd(width)}  ${value.replaceAll('\n', `\n${' '.repeat(width + 2)}`)}`,
  )
  if (!one.ready) text.push(`sekisho why application/${one.application} looks for the cause, step by step`)
  return text.join('\n')
}
