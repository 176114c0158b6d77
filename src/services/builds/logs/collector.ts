// Collects the logs of all builds on the leader: every round looks at which builds exist, and begins, or begins again, to read
// those whose log is not complete. It remembers nothing that the next leader could not find in the database and in the cluster.
// It never blocks a reconcile.

import { equalJitter } from '../../../lib/backoff.ts'
import { messageOf } from '../../../lib/errors.ts'
import { type Log, redactTokens } from '../../../lib/log.ts'
import { type Periodic, periodic } from '../../../lib/periodic.ts'
import type { BuildLogs } from '../../../store/builds/build-logs.ts'
import type { Builder, LoggedBuild } from '../builder.ts'
import { nextTurns, sharerText } from '../limits/fair-share.ts'
import { type CollectDeps, collectBuild } from './collect-build.ts'

export type CollectorDeps = CollectDeps & {
  readonly logs: Pick<BuildLogs, 'complete' | 'open'>
  readonly isLeader: () => boolean
  /** Logs that are read at once, of all tenants and of one. */
  readonly maxStreams: number
  readonly maxStreamsOfTenant: number
  /** Told whenever the number of logs that are being read changes. */
  readonly observe: (streams: number) => void
  readonly log: Log
}

export type LogCollector = Periodic & {
  /** Must be called before the first round. */
  readonly collectFrom: (builder: Pick<Builder, 'logged'>) => void
}

const roundMilliseconds = 1000
const backoff = { baseMilliseconds: 1000, capMilliseconds: 60_000 }
const maxInQuery = 1000

type Task = { readonly tenant: string; readonly stop: AbortController; readonly ended: Promise<void> }
type Failure = { readonly count: number; readonly retryAt: number }

// Memory (log collector): build → its stream: half a megabyte that is not written yet, the extents of its chunks; failures;
//     which logs are complete (ADR 0038)
//   life: until the log is complete; what is known to be complete until the build is gone
//   bound: 40 streams, of one tenant 20; builds that exist
//   freshness: the end of the build; a write on another revision
//   replicas: leader only; the next goes on where the database says
/** Nothing is read before `start`. */
export function createLogCollector(deps: CollectorDeps): LogCollector {
  const { logs, isLeader, clock, random, log, maxStreams, maxStreamsOfTenant, observe } = deps
  let logged: Builder['logged'] = () => []
  const tasks = new Map<string, Task>()
  const failures = new Map<string, Failure>()
  let complete = new Set<string>()

  /** As the last round saw them. */
  let builds: ReadonlyMap<string, LoggedBuild> = new Map()

  function begin(build: LoggedBuild): void {
    const stop = new AbortController()
    const work = async (): Promise<void> => {
      try {
        await collectBuild(deps, build, { build: () => builds.get(build.id), signal: stop.signal })
        complete.add(build.id)
        failures.delete(build.id)
      } catch (error) {
        if (stop.signal.aborted) return
        const count = (failures.get(build.id)?.count ?? 0) + 1
        failures.set(build.id, { count, retryAt: clock.now().getTime() + equalJitter(backoff, count, random) })
        log.error({ build: build.key, error: redactTokens(messageOf(error)) }, 'the log of a build cannot be collected now')
      } finally {
        tasks.delete(build.id)
        observe(tasks.size)
      }
    }
    tasks.set(build.id, { tenant: build.key.namespace, stop, ended: Promise.resolve().then(work) })
    observe(tasks.size)
  }

  async function end(): Promise<void> {
    const running = [...tasks.values()]
    for (const { stop } of running) stop.abort('stopped')
    await Promise.all(running.map(({ ended }) => ended))
  }

  /** Of the builds those whose log is not known to be complete. */
  async function incomplete(all: readonly LoggedBuild[]): Promise<readonly LoggedBuild[]> {
    const unknown = all.filter(({ id }) => !complete.has(id) && !tasks.has(id))
    const found: LoggedBuild[] = []
    for (let from = 0; from < unknown.length; from += maxInQuery) {
      const some = unknown.slice(from, from + maxInQuery)
      const known = await logs.complete(some.map(({ id }) => id))
      for (const id of known) complete.add(id)
      found.push(...some.filter(({ id }) => !known.has(id)))
    }
    return found
  }

  /** Begins to read what is due, as far as streams are free: each tenant has its share. */
  function beginSome(due: readonly LoggedBuild[]): void {
    const running = [...tasks].map(([name, { tenant }]) => ({ tenant, name }))
    const waiting = due.map(({ id, key, createdAt }) => {
      return { tenant: key.namespace, name: id, since: createdAt.toISOString(), tenantLimit: maxStreamsOfTenant }
    })
    const turns = nextTurns(running, waiting, maxStreams)
    for (const build of due) if (turns.has(sharerText({ tenant: build.key.namespace, name: build.id }))) begin(build)
  }

  async function round(signal: AbortSignal): Promise<void> {
    if (!isLeader()) {
      complete = new Set()
      return end()
    }
    builds = new Map(logged().map(build => [build.id, build]))
    const exists = new Set(builds.keys())
    complete = complete.intersection(exists)
    for (const id of failures.keys()) if (!exists.has(id)) failures.delete(id)
    const now = clock.now().getTime()
    const due = (await incomplete([...builds.values()])).filter(({ id }) => (failures.get(id)?.retryAt ?? 0) <= now)
    if (signal.aborted) return
    beginSome(due)
    // The rest of a log whose build was deleted meanwhile is gone with its pod.
    const lost = (await logs.open()).filter(({ id }) => !exists.has(id) && !tasks.has(id))
    for (const { id } of lost) await logs.end(id, { outcome: 'Cancelled' })
  }

  const loop = periodic({ name: 'collection of build logs', everyMilliseconds: roundMilliseconds, work: round, clock, log })
  return {
    ...loop,
    collectFrom(builder) {
      logged = builder.logged
    },
    async stop() {
      await loop.stop()
      await end()
    },
  }
}
