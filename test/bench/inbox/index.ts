// Bench `inbox`: signed deliveries that are durable before the answer, compared with GitHub's receiver library, which stores nothing; on the embedded
// database and on a PostgreSQL with fsync. What is stored of a delivery is what is read of it (docs/adr/0015), not its 7 KB.
// After each run the answered deliveries are counted in the database.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { findPostgres, cure as postgresCure } from '../../../dev/postgres/find-postgres.ts'
import type { Bench, Comparison, OpenBench, Run } from '../harness/bench.ts'
import { oursAtLeast, oursAtMost, ratioAtLeast } from '../harness/goals.ts'
import { figureNames } from '../harness/summarize.ts'
import { type BenchDatabases, embeddedDatabases, serverDatabases } from '../load/databases.ts'
import { measureServer, type ServerRun } from '../load/measure-server.ts'
import { deliveryHeader, plannedDeliveries } from './push-deliveries.ts'

const connections = 64
const warmUpRequests = 4000
const seconds = 3

const program = (name: string, file: string, environment: Readonly<Record<string, string>> = {}) => ({
  name,
  path: process.execPath,
  args: [join(import.meta.dirname, file)],
  environment,
})

export const inbox: Bench = {
  name: 'inbox',
  title: `signed pushes of 7 KB over ${connections} connections; what the platform reads of them is durable before the answer`,
  budgetSeconds: 240,
  obstacle: async () => (findPostgres() === undefined ? `PostgreSQL was not found: ${postgresCure}` : undefined),
  async open({ scale, folder }): Promise<OpenBench> {
    const embedded = await embeddedDatabases(folder)
    const server = await serverDatabases()
    const sealingKey = randomBytes(32).toString('base64')
    const load = { protocol: 'http/1.1', connections, streams: 1, uniqueHeader: deliveryHeader } as const
    const warmUp = Math.max(100, Math.round(warmUpRequests * scale))
    const timed = { seconds: seconds * scale }

    // The embedded database has a thread of its own: pinned to one processor it would compete with its own process.
    const unpinned = (databases: BenchDatabases): boolean => databases === embedded
    const peer = (databases: BenchDatabases, signal: AbortSignal): Promise<Run> =>
      measureServer(
        {
          ...timed,
          spread: unpinned(databases),
          server: program('octokit webhooks', 'octokit-process.ts'),
          plan: { ...load, warmUpRequests: warmUp, requests: plannedDeliveries({ status: 200, text: 'ok' }) },
        },
        signal,
      )
    const allKept: ServerRun['afterwards'] = async (receiver, answered, signal) => {
      const { kept } = await receiver.call({ do: 'kept' }, signal)
      if (kept !== answered) throw new Error(`${answered} deliveries were answered and ${String(kept)} are in the database`)
    }
    const ours = (databases: BenchDatabases, signal: AbortSignal): Promise<Run> =>
      databases.withNew(environment =>
        measureServer(
          {
            ...timed,
            spread: unpinned(databases),
            server: program('our inbox', 'receiver-process.ts', { ...environment, SEKISHO_SEALING_KEYS: sealingKey }),
            plan: {
              ...load,
              warmUpRequests: warmUp,
              requests: plannedDeliveries({ status: 202, text: '"delivery":"stored"' }),
            },
            afterwards: allKept,
          },
          signal,
        ),
      )
    const comparison = (name: string, title: string, databases: BenchDatabases, goals: Comparison['goals']): Comparison => ({
      name,
      title,
      unit: 'deliveries',
      peerName: '@octokit/webhooks, which keeps nothing',
      ours: signal => ours(databases, signal),
      peer: signal => peer(databases, signal),
      goals,
    })
    return {
      comparisons: [
        comparison('PostgreSQL', 'deliveries stored in PostgreSQL with fsync', server, [
          ratioAtLeast(figureNames.rate, 0.5),
          oursAtMost(figureNames.p99, 50),
        ]),
        comparison('PGlite', 'deliveries stored in the embedded database', embedded, [
          oursAtLeast(figureNames.rate, 5000),
          oursAtMost(figureNames.p99, 50),
        ]),
      ],
      async close() {
        await server.close()
        await embedded.close()
      },
    }
  },
}
