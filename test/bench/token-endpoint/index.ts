// Bench `token-endpoint`: our token desk as a process, asked for tokens that are in its registry, beside oidc-provider's
// `client_credentials` over TLS with its storage in memory. The peer asks nobody; ours asks the API server who asks and whether
// the grant still holds, and PostgreSQL for the token and to record that it was delivered. Beside it: what 1,000 askers at once
// cost at GitHub.
import { join } from 'node:path'
import { findPostgres, cure as postgresCure } from '../../../dev/postgres/find-postgres.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { silentLog } from '../../../src/lib/testing/silent-log.ts'
import { connectServer } from '../../../src/store/database/database.ts'
import { openClosing } from '../../fixtures/open-closing.ts'
import type { Bench, Comparison, OpenBench } from '../harness/bench.ts'
import { ratioAtLeast } from '../harness/goals.ts'
import { type ProgramOptions, platformNodeOptions } from '../harness/program.ts'
import { figureNames } from '../harness/summarize.ts'
import { certificateFiles } from '../load/certificate-files.ts'
import type { DatabaseEnvironment } from '../load/databases.ts'
import { measureServer } from '../load/measure-server.ts'
import { besideClones, startClones } from './beside-clones.ts'
import { manyAskers } from './many-askers.ts'
import { plannedCredentials } from './peer-client.ts'
import { type BenchTenant, plannedRequest } from './tenants.ts'
import { fillRegistry, openWorld, type World } from './world.ts'

/**
 * An address has fifty requests at once and five a second, a namespace two hundred and ten (request-limits.ts). So many of both
 * are never refused in a run of this length.
 */
const connections = 96
const tenants = 48
const warmUpRequests = 2000
const seconds = 4
const askers = 1000

const file = (name: string): string => join(import.meta.dirname, name)
const deskOf = (world: World, form: 'alone' | 'replica'): ProgramOptions => ({
  name: 'our token desk',
  path: process.execPath,
  args: [...platformNodeOptions, file('desk-process.ts'), form],
  environment: world.environment,
})

/** The registry has counted every answer. */
async function demandRecorded(database: DatabaseEnvironment, answered: number): Promise<void> {
  const { pool, close } = connectServer(new SecretString(database['SEKISHO_DATABASE_URL'] ?? ''), silentLog)
  try {
    const { rows } = await pool.query<{ made: number; delivered: number }>(
      'SELECT count(*)::int AS made, sum(deliveries)::int AS delivered FROM desk.tokens',
    )
    const { made, delivered } = rows[0] ?? {}
    if (made !== tenants) throw new Error(`${made} tokens are in the registry instead of ${tenants}`)
    if (delivered !== answered) throw new Error(`${answered} tokens were answered and ${delivered} are recorded`)
  } finally {
    await close()
  }
}

type Sized = { readonly warmUpRequests: number; readonly seconds: number }

function comparison(
  world: World,
  workloads: readonly BenchTenant[],
  peer: { readonly program: ProgramOptions; readonly authority: string },
  { seconds, ...sized }: Sized,
): Comparison {
  const plan = { protocol: 'http/1.1', connections, ownAddresses: true, streams: 1, ...sized } as const
  return {
    name: 'cached',
    title: `tokens of ${tenants} grants that are in the registry, ${connections} workloads at once`,
    unit: 'tokens',
    peerName: 'oidc-provider’s client_credentials with its storage in memory, which asks nobody and keeps nothing',
    ours: signal =>
      world.databases.withNew(async database => {
        await fillRegistry(world, database, workloads)
        const desk = deskOf(world, 'alone')
        return measureServer(
          {
            seconds,
            server: { ...desk, environment: { ...desk.environment, ...database } },
            plan: { ...plan, requests: workloads.map(plannedRequest) },
            afterwards: (_desk, answered) => demandRecorded(database, answered),
          },
          signal,
        )
      }),
    peer: signal =>
      measureServer(
        { seconds, server: peer.program, plan: { ...plan, authority: peer.authority, requests: [plannedCredentials()] } },
        signal,
      ),
    goals: [ratioAtLeast(figureNames.rate, 0.7)],
  }
}

export const tokenEndpoint: Bench = {
  name: 'token-endpoint',
  title: `tokens that exist, for ${connections} workloads over TLS, and ${askers.toLocaleString('en-US')} who ask at once for tokens that do not`,
  budgetSeconds: 600,
  obstacle: async () => (findPostgres() === undefined ? `PostgreSQL was not found: ${postgresCure}` : undefined),
  async open({ note, scale, folder }): Promise<OpenBench> {
    const clones = await startClones()
    return openClosing(async onClose => {
      onClose(clones.stop)
      const { port } = await clones.call({ do: 'port' })
      const world = await openWorld(`http://127.0.0.1:${port}`, note)
      onClose(world.close)
      const workloads = await world.tenants('cached', tenants)
      note(`${tenants} tenants have a grant and a pod`)
      const { authority, args } = await certificateFiles(folder)
      const program = { name: 'oidc-provider', path: process.execPath, args: [file('peer-process.ts'), ...args] }
      const sized = { warmUpRequests: Math.max(100, Math.round(warmUpRequests * scale)), seconds: seconds * scale }
      const crowd = Math.max(20, Math.round(askers * scale))
      return {
        comparisons: [comparison(world, workloads, { program, authority }, sized)],
        measurements: [
          manyAskers(world, deskOf(world, 'replica'), crowd),
          besideClones({ ...{ world, clones, workloads, scale }, desk: deskOf(world, 'alone') }),
        ],
      }
    })
  },
}
