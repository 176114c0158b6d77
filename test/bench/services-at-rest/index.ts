// Bench `services-at-rest`: what databases and credentials cost that nobody touches. One process makes them and ends; another
// one finds them, as after every restart, and is watched for ten minutes.
import { setTimeout as wait } from 'node:timers/promises'
import { findPostgres, cure as postgresCure } from '../../../dev/postgres/find-postgres.ts'
import { serviceBinding } from '../../../src/api/services/service-binding.ts'
import { serviceInstance } from '../../../src/api/services/service-instance.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { put } from '../../fixtures/put-object.ts'
import type { Bench, Figure, Measurement } from '../harness/bench.ts'
import { figureAtMost } from '../harness/goals.ts'
import { someAtATime } from '../load/some-at-a-time.ts'
import type { MeasuredProcess } from '../memory/measured-process.ts'
import { servedRequests } from '../reconcile/observed/served-requests.ts'
import { classes, isReady } from '../services/servers.ts'
import { metricsOf, sumOf } from './metrics.ts'
import { namespace, openWorld, type World } from './world.ts'

const instances = 2000
const restMinutes = 10
const minute = 60_000
/** The first size of each is a write, and comes within a minute. */
const settleMilliseconds = 1.5 * minute
/** The API server has no more requests of the bench at once. */
const applying = 16
const megabyte = 1024 * 1024

const written = ['serviceclasses', 'serviceinstances', 'buckets', 'servicebindings', 'secrets', 'configmaps', 'events']

const labels = {
  writes: 'writes to the API server, but for the lease',
  statements: 'statements to the server in a minute, without the guard of the locks',
  resident: 'data-services: resident at the end',
  heap: 'objects on the heap for each 1,000 of them',
} as const

async function make({ client }: World, names: readonly string[], note: (message: string) => void): Promise<void> {
  await someAtATime(names, applying, async name => {
    await put(client, serviceInstance, { namespace, name }, { spec: { class: classes.database, whenDeleted: 'Delete' } })
    const spec = { service: { kind: 'ServiceInstance', name }, access: 'ReadWrite' }
    await put(client, serviceBinding, { namespace, name }, { spec })
  })
  note('all are applied')
  await waitUntil(
    `${names.length} ServiceBindings to be ready`,
    async seen => {
      const bindings = await client.list(serviceBinding, { namespace })
      return seen(bindings.filter(isReady).length) === names.length
    },
    { timeoutMilliseconds: limits.usual * 120, everyMilliseconds: 1000 },
  )
}

type Counts = { readonly writes: number; readonly reads: number; readonly wire: number; readonly guard: number }

async function countsOf({ admin }: World, wire: { readonly count: () => number }, process: MeasuredProcess): Promise<Counts> {
  const { writes, reads } = await servedRequests(admin, written)
  const guard = sumOf(await metricsOf(process), 'sekisho_service_server_statements_total', 'purpose="guard"')
  return { writes, reads, wire: wire.count(), guard }
}

async function heapBytes(process: MeasuredProcess): Promise<number> {
  const [main] = await process.isolates({ collect: true })
  return main?.usedBytes ?? Number.NaN
}

const residentBytes = async (process: MeasuredProcess): Promise<number> => (await process.memory()).residentBytes

async function measure(world: World, count: number, { note, signal }: { note: (message: string) => void; signal: AbortSignal }) {
  const first = await world.start()
  const wire = await world.offer()
  await first.atRest()
  const residentEmpty = await residentBytes(first)
  const heapEmpty = await heapBytes(first)
  note('nothing is there yet')
  const names = Array.from({ length: count }, (_, at) => `rest-${at}`)
  await make(world, names, note)
  const residentAfterMaking = await residentBytes(first)
  note('all are ready')
  await first.stop()
  const second = await world.start()
  await wait(settleMilliseconds, undefined, { signal })
  await second.atRest()
  const before = await countsOf(world, wire, second)
  await wait(restMinutes * minute, undefined, { signal })
  const after = await countsOf(world, wire, second)
  const resident = await residentBytes(second)
  const heap = await heapBytes(second)
  const difference = (key: keyof Counts): number => after[key] - before[key]
  const ofAMinute = (number: number): number => number / restMinutes
  const megabytes = (label: string, bytes: number): Figure => ({ label, value: bytes / megabyte, unit: 'MB' })
  return [
    { label: 'databases, each with a credential', value: count, unit: '' },
    { label: 'time at rest', value: restMinutes, unit: 'min' },
    { label: labels.writes, value: difference('writes'), unit: '' },
    { label: 'reads of single objects in a minute', value: ofAMinute(difference('reads')), unit: '' },
    { label: labels.statements, value: ofAMinute(difference('wire') - difference('guard')), unit: '' },
    { label: 'statements of the guard in a minute', value: ofAMinute(difference('guard')), unit: '' },
    megabytes('data-services: resident with nothing of tenants', residentEmpty),
    megabytes('data-services: resident after it made them', residentAfterMaking),
    megabytes(labels.resident, resident),
    megabytes('objects on the heap with nothing of tenants', heapEmpty),
    megabytes('objects on the heap with them', heap),
    megabytes(labels.heap, ((heap - heapEmpty) / (2 * count)) * 1000),
  ]
}

function atRest(count: number, note: (message: string) => void): Measurement {
  return {
    name: 'at rest',
    title: `${count.toLocaleString('en-US')} databases with a credential each on one server, for ${restMinutes} minutes`,
    async run(signal): Promise<readonly Figure[]> {
      const world = await openWorld(note)
      try {
        return await measure(world, count, { note, signal })
      } finally {
        await world.close()
      }
    },
    goals: [
      figureAtMost(labels.writes, 0),
      figureAtMost(labels.statements, 1),
      figureAtMost(labels.resident, 120),
      figureAtMost(labels.heap, 2),
    ],
  }
}

export const servicesAtRest: Bench = {
  name: 'services-at-rest',
  title: 'what 2,000 databases and 2,000 credentials cost that nobody touches, for ten minutes',
  budgetSeconds: 3600,
  async obstacle() {
    return findPostgres() === undefined ? `PostgreSQL was not found: ${postgresCure}` : undefined
  },
  open: async ({ note, scale }) => ({
    comparisons: [],
    measurements: [atRest(Math.max(1, Math.round(instances * scale)), note)],
    close: async () => {},
  }),
}
