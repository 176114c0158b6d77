// Bench `services`: from objects to credentials, and many at once beside the bare SQL.
import { findPostgres, cure as postgresCure } from '../../../dev/postgres/find-postgres.ts'
import type { ResourceType } from '../../../src/api/resource.ts'
import { bucket } from '../../../src/api/services/bucket.ts'
import { serviceBinding } from '../../../src/api/services/service-binding.ts'
import { serviceInstance } from '../../../src/api/services/service-instance.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { Bench, BenchContext, Comparison, Figure, Measurement, OpenBench, Run } from '../harness/bench.ts'
import { figureAtMost, ratioAtLeast } from '../harness/goals.ts'
import { percentile } from '../harness/statistics.ts'
import { figureNames } from '../harness/summarize.ts'
import { someAtATime } from '../load/some-at-a-time.ts'
import { dropDatabases, makeDatabases } from './bare-sql.ts'
import { rotated, rotation } from './rotation.ts'
import { classes } from './servers.ts'
import { namespace, openWorld, type World } from './world.ts'

const [single, many] = [20, 500]
/** The API server and the database have no more clients at once than this of the bench. */
const applying = 16
type Kind = 'database' | 'bucket'
const types: Readonly<Record<Kind, ResourceType>> = { database: serviceInstance, bucket }

async function applyService(world: World, kind: Kind, name: string): Promise<void> {
  const type = types[kind]
  const fate = kind === 'bucket' ? { emptyWhenDeleted: true } : {}
  await world.apply(type, name, { class: classes[kind], whenDeleted: 'Delete', ...fate })
  await world.apply(serviceBinding, name, { service: { kind: type.kind, name }, access: 'ReadWrite' })
}

async function remove(world: World, kind: Kind, names: readonly string[]): Promise<void> {
  const { client } = world
  await someAtATime(names, applying, async name => {
    await client.delete(serviceBinding, { namespace, name })
    await client.delete(types[kind], { namespace, name })
  })
  await waitUntil('the services to be gone', async seen => seen(await client.list(types[kind], { namespace })).length === 0, {
    timeoutMilliseconds: limits.usual * 60,
    everyMilliseconds: 250,
  })
}

const namesOf = (prefix: string, count: number): readonly string[] => Array.from({ length: count }, (_, at) => `${prefix}-${at}`)

function ready(world: World, kind: Kind, count: number, most: number): Measurement {
  const label = `${kind} and ServiceBinding, applied to ready, p50`
  return {
    name: `one ${kind}`,
    title: `${count} times a ${kind} and its ServiceBinding, one after the other`,
    async run(): Promise<readonly Figure[]> {
      const names = namesOf(`one-${kind}`, count)
      const all: number[] = []
      for (const name of names) {
        const started = performance.now()
        await applyService(world, kind, name)
        await world.untilReady([name])
        all.push((performance.now() - started) / 1000)
      }
      await remove(world, kind, names)
      return [
        { label, value: percentile(all, 50), unit: 's' },
        { label: `${kind} and ServiceBinding, applied to ready, p99`, value: percentile(all, 99), unit: 's' },
      ]
    },
    goals: [figureAtMost(label, most)],
  }
}

function rotationOf(world: World, kind: Kind, count: number): Measurement {
  const names = namesOf(`rotated-${kind}`, count)
  const make = async (): Promise<void> => {
    await someAtATime(names, applying, name => applyService(world, kind, name))
    await world.untilReady(names)
  }
  return rotation(world, { kind, names, make, remove: () => remove(world, kind, names) })
}

async function timed(operations: number, work: () => Promise<void>): Promise<Run> {
  const started = performance.now()
  await work()
  return { operations, wallSeconds: (performance.now() - started) / 1000 }
}

/** Each run has names of its own: what was dropped may leave pages behind. */
function cold(world: World, count: number): Comparison {
  let runs = 0
  return {
    name: 'cold',
    title: `${count} databases with a credential each, all at once`,
    unit: 'databases',
    peerName: 'the statements alone, by four sessions',
    async ours() {
      const names = namesOf(`cold-${++runs}`, count)
      const run = await timed(count, async () => {
        await someAtATime(names, applying, name => applyService(world, 'database', name))
        await world.untilReady(names)
      })
      await remove(world, 'database', names)
      return run
    },
    async peer() {
      const names = namesOf(`peer_${++runs}`, count).map(name => name.replace('-', '_'))
      const run = await timed(count, () => makeDatabases(world.server, names))
      await dropDatabases(world.server, names)
      return run
    },
    goals: [ratioAtLeast(figureNames.rate, 0.5)],
  }
}

export const services: Bench = {
  name: 'services',
  title:
    'databases and buckets of tenants: from an object to a credential that works, one and many at once, and replaced while it is used',
  budgetSeconds: 3600,
  async obstacle() {
    return findPostgres() === undefined ? `PostgreSQL was not found: ${postgresCure}` : undefined
  },
  async open({ note, scale }: BenchContext): Promise<OpenBench> {
    const sized = (count: number): number => Math.max(1, Math.round(count * scale))
    const world = await openWorld(note)
    return {
      comparisons: [cold(world, sized(many))],
      measurements: [
        ready(world, 'database', sized(single), 1),
        ready(world, 'bucket', sized(single), 0.7),
        rotationOf(world, 'database', sized(rotated.database.count)),
        rotationOf(world, 'bucket', sized(rotated.bucket.count)),
      ],
      close: world.close,
    }
  },
}
