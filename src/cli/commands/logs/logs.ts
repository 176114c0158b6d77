// `sekisho logs`: what the processes of an Application write, of all its pods together.
import type { Application } from '../../../api/apps/application.ts'
import type { Pod } from '../../../api/builtin/core.ts'
import { AppError } from '../../../lib/errors.ts'
import { found } from '../../kubernetes/cluster.ts'
import { applications } from '../../kubernetes/kinds.ts'
import { didYouMean } from '../../kubernetes/similar-names.ts'
import { podSelector, podsOf, processOf } from '../application/pods.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { containerLog, type LogReading } from './container-log.ts'
import { followLogs, hasNoLog, runsOf } from './follow.ts'
import { type LogLine, prefixOf, shown } from './log-line.ts'

export type LogsOptions = {
  readonly follow?: boolean
  readonly previous?: boolean
  readonly timestamps?: boolean
  readonly tail: string
  readonly since?: number
  readonly output: 'text' | 'json'
}

/** Prints the last lines of every pod in the order of their times; with `follow`, also what comes, until the person ends it. */
export async function logs(context: ClusterContext, options: LogsOptions, name: string, process?: string): Promise<void> {
  const { cluster, clock, terminal } = context
  const application = await found(cluster, applications, name)
  if (process !== undefined) await knownProcess(context, application, process)
  const { signal } = new AbortController()
  const reading: LogReading = { client: cluster.client, namespace: cluster.namespace, clock, signal }
  const tailLines = Number(options.tail)
  const sinceTime = options.since === undefined ? undefined : new Date(clock.now().getTime() - options.since * 1000).toISOString()
  let width = 0
  const print = (line: LogLine): void => {
    width = Math.max(width, prefixOf(line).length)
    terminal.result(options.output === 'json' ? JSON.stringify(line) : shown(line, { timestamps: options.timestamps, width }))
  }
  if (options.follow === true && options.previous !== true) {
    const labelSelector = podSelector(name, process)
    await followLogs({
      ...reading,
      client: cluster.client,
      labelSelector,
      tailLines,
      sinceTime,
      onLine: print,
      onNotice: terminal.say,
    })
  }
  const all = await podsOf(cluster, name, process)
  if (all.length === 0)
    return terminal.say(
      `no pods of ${name}${process === undefined ? '' : `, process ${process},`} exist; sekisho why application/${name} says why`,
    )
  const range = { tailLines, sinceTime, previous: options.previous === true }
  const lines = (await Promise.all(all.map(pod => linesOf(reading, pod, range)))).flat()
  for (const line of lines.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))) print(line)
}

/** What the spec names or was found in the image, and what still has pods. Rejects with `not_found` for any other name. */
async function knownProcess(
  { cluster }: ClusterContext,
  { metadata, spec, status }: Application,
  process: string,
): Promise<void> {
  const described = [...(spec.processes ?? status?.processes ?? []), ...(spec.cron ?? [])].map(one => one.name)
  if (described.includes(process)) return
  const names = [...new Set([...described, ...(await podsOf(cluster, metadata.name)).map(processOf)])]
  if (names.includes(process)) return
  const there =
    names.length === 0 ? 'its processes are not known yet' : `there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}`
  throw new AppError('not_found', `${metadata.name} has no process ${process}; ${there}${didYouMean(process, names)}`)
}

type Range = { readonly tailLines: number; readonly sinceTime: string | undefined; readonly previous: boolean }

/** Each container of the pod. A container that never ran has no log, and one that never restarted no previous one. */
async function linesOf(reading: LogReading, pod: Pod, range: Range): Promise<readonly LogLine[]> {
  const lines: LogLine[] = []
  for (const { source, previous } of runsOf(pod).filter(run => run.previous === range.previous)) {
    try {
      for await (const line of containerLog(reading, source, { ...range, follow: false, previous })) lines.push(line)
    } catch (error) {
      if (!hasNoLog(error)) throw error
    }
  }
  return lines
}
