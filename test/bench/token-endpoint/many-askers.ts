// 1,000 workloads ask at once while no token exists: how many tokens two replicas of the desk make for it.

import { SecretString } from '../../../src/lib/secret-string.ts'
import { silentLog } from '../../../src/lib/testing/silent-log.ts'
import { connectServer } from '../../../src/store/database/database.ts'
import type { Figure, Measurement } from '../harness/bench.ts'
import { figureAtMost } from '../harness/goals.ts'
import { type MeasuredProgram, type ProgramOptions, startProgram } from '../harness/program.ts'
import { percentile } from '../harness/statistics.ts'
import { openSocket } from '../load/closed-loop.ts'
import type { DatabaseEnvironment } from '../load/databases.ts'
import { http1Connection, prepareHttp1 } from '../load/http1-connection.ts'
import { type BenchTenant, grantName, plannedRequest } from './tenants.ts'
import type { World } from './world.ts'

/** One namespace has two hundred requests at once of each replica (request-limits.ts): so many need four. */
const grants = 4
const replicas = 2
const mostLabel = 'tokens made for one grant by both replicas, most'
const failedLabel = 'askers without a token'

type Asked = { readonly milliseconds: number; readonly isAnswered: boolean }

/**
 * Refused before it counts or costs anything: a connection on which nothing was asked is ended after ten seconds, which so many
 * handshakes may take.
 */
const greeting = prepareHttp1(
  {
    ...{ path: '/v1/token', headers: { authorization: 'Bearer none', 'content-type': 'application/json' } },
    body: Buffer.from(JSON.stringify({ grant: grantName })).toString('base64'),
    ...{ expectedStatus: 401, expectedText: '' },
  },
  undefined,
)

/** All connections are open before the first asks. */
async function askAtOnce(
  programs: readonly MeasuredProgram[],
  tenants: readonly BenchTenant[],
  count: number,
  signal: AbortSignal,
): Promise<readonly Asked[]> {
  const places = await Promise.all(programs.map(program => program.call({ do: 'port' }, signal)))
  const requests = tenants.map(tenant => prepareHttp1(plannedRequest(tenant), undefined))
  const askers: (() => Promise<Asked>)[] = []
  const ends: (() => void)[] = []
  try {
    for (let number = 0; number < count; number++) {
      const { port, authority } = places[number % places.length] ?? {}
      const plan = { port: Number(port), authority: String(authority), protocol: 'http/1.1', ownAddresses: true } as const
      const connection = http1Connection(await openSocket(plan, number))
      ends.push(connection.close)
      if (!(await connection.send(greeting))) throw new Error('the desk did not refuse a request without a token')
      const request = requests[Math.floor(number / places.length) % requests.length]
      if (request === undefined) throw new Error('there is no tenant')
      askers.push(async () => {
        const started = performance.now()
        const isAnswered = await connection.send(request)
        return { milliseconds: performance.now() - started, isAnswered }
      })
    }
    return await Promise.all(askers.map(ask => ask()))
  } finally {
    for (const end of ends) end()
  }
}

/** By the name of the namespace, of which each has one grant. */
async function mintedFor(database: DatabaseEnvironment): Promise<ReadonlyMap<string, number>> {
  const { pool, close } = connectServer(new SecretString(database['SEKISHO_DATABASE_URL'] ?? ''), silentLog)
  try {
    const { rows } = await pool.query<{ namespace: string; count: number }>(
      "SELECT namespace, count(*)::int AS count FROM desk.tokens WHERE state = 'minted' GROUP BY namespace",
    )
    return new Map(rows.map(({ namespace, count }) => [namespace, count]))
  } finally {
    await close()
  }
}

async function measure(world: World, desk: ProgramOptions, askers: number, signal: AbortSignal): Promise<readonly Figure[]> {
  const tenants = await world.tenants('crowd', grants)
  return world.databases.withNew(async database => {
    const programs: MeasuredProgram[] = []
    try {
      for (let replica = 0; replica < replicas; replica++)
        programs.push(
          await startProgram(
            { ...desk, name: `token desk ${replica}`, environment: { ...desk.environment, ...database } },
            signal,
          ),
        )
      const asked = await askAtOnce(programs, tenants, askers, signal)
      const minted = await mintedFor(database)
      const milliseconds = asked.map(one => one.milliseconds)
      return [
        { label: 'askers at once', value: askers, unit: '' },
        { label: 'grants', value: grants, unit: '' },
        { label: failedLabel, value: asked.filter(one => !one.isAnswered).length, unit: '' },
        { label: mostLabel, value: Math.max(0, ...minted.values()), unit: '' },
        { label: 'tokens made in all', value: [...minted.values()].reduce((sum, one) => sum + one, 0), unit: '' },
        { label: 'from the question to the token, p50', value: percentile(milliseconds, 50), unit: 'ms' },
        { label: 'from the question to the token, p99', value: percentile(milliseconds, 99), unit: 'ms' },
      ]
    } finally {
      await Promise.all(programs.map(program => program.stop()))
    }
  })
}

/** `desk` is a replica, without its database. */
export function manyAskers(world: World, desk: ProgramOptions, askers: number): Measurement {
  return {
    name: 'many askers',
    title: `${askers.toLocaleString('en-US')} connections to ${replicas} replicas of the desk ask for the tokens of ${grants} grants that nobody has used`,
    run: signal => measure(world, desk, askers, signal),
    goals: [figureAtMost(failedLabel, 0), figureAtMost(mostLabel, replicas)],
  }
}
