// Bench `inbox`: signed deliveries that are durable before the answer (docs/adr/0015), compared with GitHub's receiver library,
// which stores nothing; on the embedded database and on a PostgreSQL with fsync. Twice: as many as they can (closed loop), and
// a thousand each second (open loop), where the peer also keeps each delivery in a file that is flushed before the answer.
// After each run the answered deliveries are counted in the database.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { findPostgres, cure as postgresCure } from '../../../dev/postgres/find-postgres.ts'
import type { Bench, Comparison, OpenBench, Run } from '../harness/bench.ts'
import { oursAtMost, ratioAtLeast } from '../harness/goals.ts'
import { platformNodeOptions } from '../harness/program.ts'
import { figureNames } from '../harness/summarize.ts'
import { type BenchDatabases, embeddedDatabases, serverDatabases } from '../load/databases.ts'
import { measureServer, type ServerRun } from '../load/measure-server.ts'
import { deliveryHeader, plannedDeliveries } from './push-deliveries.ts'

const connections = 64
/** A receiver runs for days: what is compiled in its first seconds is not measured. */
const warmUpRequests = 20_000
const seconds = 3
const perSecond = 1000
const openLoopSeconds = 8

const program = (name: string, file: string, args: readonly string[] = []) => ({
  name,
  path: process.execPath,
  args: [join(import.meta.dirname, file), ...args],
})
const receiver = (environment: Readonly<Record<string, string>>) => ({
  name: 'our inbox',
  path: process.execPath,
  args: [...platformNodeOptions, join(import.meta.dirname, 'receiver-process.ts')],
  environment,
})
const keepsNothing = {
  peer: program('octokit webhooks', 'octokit-process.ts'),
  peerName: '@octokit/webhooks, which keeps nothing',
}

export const inbox: Bench = {
  name: 'inbox',
  title: `signed pushes of 7 KB over ${connections} connections; what the platform reads of them is durable before the answer`,
  budgetSeconds: 600,
  obstacle: async () => (findPostgres() === undefined ? `PostgreSQL was not found: ${postgresCure}` : undefined),
  async open({ scale, folder }): Promise<OpenBench> {
    const embedded = await embeddedDatabases(folder)
    const server = await serverDatabases()
    const sealingKey = randomBytes(32).toString('base64')
    const load = { protocol: 'http/1.1', connections, streams: 1, uniqueHeader: deliveryHeader } as const
    const warmUp = Math.max(100, Math.round(warmUpRequests * scale))
    const closedLoop = { seconds: seconds * scale }
    const openLoop = { seconds: openLoopSeconds * scale, perSecond }
    type Timed = { readonly seconds: number; readonly perSecond?: number }

    // The embedded database has a thread of its own: pinned to one processor it would compete with its own process.
    const unpinned = (databases: BenchDatabases): boolean => databases === embedded
    const keepsInFile = {
      peer: program('octokit webhooks and a file', 'file-process.ts', [folder]),
      peerName: '@octokit/webhooks, and a plain file that is flushed before the answer',
    }
    type Peer = typeof keepsNothing
    const peer = (
      { peer: server }: Peer,
      databases: BenchDatabases,
      { seconds: lasting, ...pace }: Timed,
      signal: AbortSignal,
    ): Promise<Run> =>
      measureServer(
        {
          seconds: lasting,
          spread: unpinned(databases),
          server,
          plan: { ...load, ...pace, warmUpRequests: warmUp, requests: plannedDeliveries({ status: 200, text: 'ok' }) },
        },
        signal,
      )
    const allKept: ServerRun['afterwards'] = async (receiver, answered, signal) => {
      const { kept } = await receiver.call({ do: 'kept' }, signal)
      if (kept !== answered) throw new Error(`${answered} deliveries were answered and ${String(kept)} are in the database`)
    }
    const ours = (databases: BenchDatabases, { seconds: lasting, ...pace }: Timed, signal: AbortSignal): Promise<Run> =>
      databases.withNew(environment =>
        measureServer(
          {
            seconds: lasting,
            spread: unpinned(databases),
            server: receiver({ ...environment, SEKISHO_SEALING_KEYS: sealingKey }),
            plan: {
              ...load,
              ...pace,
              warmUpRequests: warmUp,
              requests: plannedDeliveries({ status: 202, text: '"delivery":"stored"' }),
            },
            afterwards: allKept,
          },
          signal,
        ),
      )
    type Compared = {
      readonly name: string
      readonly title: string
      readonly databases: BenchDatabases
      readonly timed?: Timed
    }
    const comparison = ({ name, title, databases, timed = closedLoop }: Compared, goals: Comparison['goals']): Comparison => {
      const beside = timed === openLoop ? keepsInFile : keepsNothing
      return {
        name,
        title,
        unit: 'deliveries',
        peerName: beside.peerName,
        ours: signal => ours(databases, timed, signal),
        peer: signal => peer(beside, databases, timed, signal),
        goals,
      }
    }
    return {
      comparisons: [
        comparison({ name: 'PostgreSQL', title: 'deliveries stored in PostgreSQL with fsync', databases: server }, [
          ratioAtLeast(figureNames.rate, 0.64),
          oursAtMost(figureNames.p99, 50),
        ]),
        comparison({ name: 'PGlite', title: 'deliveries stored in the embedded database', databases: embedded }, [
          ratioAtLeast(figureNames.rate, 0.68),
          oursAtMost(figureNames.p99, 50),
        ]),
        comparison(
          { name: 'PostgreSQL 1,000/s', title: 'the same, a thousand due each second', databases: server, timed: openLoop },
          [oursAtMost(figureNames.p99, 50)],
        ),
        comparison(
          { name: 'PGlite 1,000/s', title: 'embedded, a thousand due each second', databases: embedded, timed: openLoop },
          [oursAtMost(figureNames.p99, 50)],
        ),
      ],
      async close() {
        await server.close()
        await embedded.close()
      },
    }
  },
}
