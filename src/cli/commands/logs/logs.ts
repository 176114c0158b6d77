// `sekisho logs`: what the processes of an Application write, of all its pods together.
import type { Pod } from '../../../api/builtin/core.ts'
import { found } from '../../kubernetes/cluster.ts'
import { applications } from '../../kubernetes/kinds.ts'
import { podSelector, podsOf } from '../application/pods.ts'
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
  await found(cluster, applications, name)
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
