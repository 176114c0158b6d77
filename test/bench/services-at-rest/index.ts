// Bench `services-at-rest`: what databases and credentials cost that nobody touches. A process finds them, as after every
// restart, and is watched for ten minutes.
import { setTimeout as wait } from 'node:timers/promises'
import { findPostgres, cure as postgresCure } from '../../../dev/postgres/find-postgres.ts'
import { secrets } from '../../../src/api/builtin/index.ts'
import { bindingSecretName } from '../../../src/api/services/binding-secret.ts'
import { serviceBinding } from '../../../src/api/services/service-binding.ts'
import { serviceInstance } from '../../../src/api/services/service-instance.ts'
import { tenant } from '../../../src/api/tenancy/tenant.ts'
import { uidOf } from '../../../src/kube/object/owner.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { put } from '../../fixtures/put-object.ts'
import type { Bench, Figure, Measurement } from '../harness/bench.ts'
import { figureAtMost } from '../harness/goals.ts'
import { someAtATime } from '../load/some-at-a-time.ts'
import type { MeasuredProcess } from '../memory/measured-process.ts'
import { servedRequests } from '../reconcile/observed/served-requests.ts'
import { classes, isReady, plan } from '../services/servers.ts'
import { metricsOf, sumOf } from './metrics.ts'
import { type Pattern, plantLike } from './plant.ts'
import { namespace, openWorld, type World } from './world.ts'

const instances = 2000
const restMinutes = 10
const minute = 60_000
/** The first look at each credential comes with the start, the second of each database a minute later. */
const settleMilliseconds = 1.5 * minute
/** Twice the sessions of an administrator: some wait for the API server. */
const planting = 8
const megabyte = 1024 * 1024

const written = ['serviceclasses', 'serviceinstances', 'buckets', 'servicebindings', 'secrets', 'configmaps', 'events']

const labels = {
  writes: 'writes to the API server, but for the lease',
  taking: 'writes while a process that started took them over',
  statements: 'statements to the server in a minute, without the guard of the locks',
  resident: 'data-services: resident at the end',
  heap: 'objects on the heap for each 1,000 of them',
} as const

/** Resolves when data-services made it, and says how large it is. */
async function makePattern({ client }: World): Promise<Pattern> {
  const place = { namespace, name: 'pattern' }
  await put(client, serviceInstance, place, { spec: { class: classes.database, whenDeleted: 'Delete' } })
  const service = { kind: 'ServiceInstance', name: place.name }
  await put(client, serviceBinding, place, { spec: { service, access: 'ReadWrite' } })
  return waitUntil(
    'the pattern to be ready',
    async () => {
      const [instance, binding, secret] = await Promise.all([
        client.get(serviceInstance, place),
        client.get(serviceBinding, place),
        client.get(secrets, { namespace, name: bindingSecretName(place.name) }),
      ])
      const owner = await client.get(tenant, { name: namespace })
      if (instance?.status?.usage === undefined || !isReady(binding) || binding === undefined || secret === undefined || !owner)
        return undefined
      return { instance, binding, secret, tenantUid: uidOf(owner), connections: plan.limits.connections }
    },
    { timeoutMilliseconds: limits.usual * 10, everyMilliseconds: 500 },
  )
}

type Wire = { readonly count: () => number }
type Counts = { readonly writes: number; readonly reads: number; readonly wire: number; readonly guard: number }

async function countsOf({ admin }: World, wire: Wire, process: MeasuredProcess): Promise<Counts> {
  const { writes, reads } = await servedRequests(admin, written)
  const guard = sumOf(await metricsOf(process), 'sekisho_service_server_statements_total', 'purpose="guard"')
  return { writes, reads, wire: wire.count(), guard }
}

type Memory = { readonly residentBytes: number; readonly heapBytes: number }

async function memoryOf(process: MeasuredProcess): Promise<Memory> {
  const { residentBytes } = await process.memory()
  const [main] = await process.isolates({ collect: true })
  return { residentBytes, heapBytes: main?.usedBytes ?? Number.NaN }
}

const megabytes = (label: string, bytes: number): Figure => ({ label, value: bytes / megabyte, unit: 'MB' })

type Observed = { readonly note: (message: string) => void; readonly signal: AbortSignal }

/** As after a restart: another process finds what there is, and is watched. */
async function watch(world: World, { wire, empty }: { wire: Wire; empty: Memory }, count: number, { note, signal }: Observed) {
  const found = await world.start()
  await wait(settleMilliseconds, undefined, { signal })
  await found.atRest()
  const before = await countsOf(world, wire, found)
  note('at rest')
  await wait(restMinutes * minute, undefined, { signal })
  const after = await countsOf(world, wire, found)
  const memory = await memoryOf(found)
  const difference = (key: keyof Counts): number => after[key] - before[key]
  return {
    before,
    figures: [
      { label: labels.writes, value: difference('writes'), unit: '' },
      // Nobody may list Secrets, so that none is watched: each is read again.
      {
        label: 'reads of single objects in a minute, each Secret once in ten minutes',
        value: difference('reads') / restMinutes,
        unit: '',
      },
      { label: labels.statements, value: (difference('wire') - difference('guard')) / restMinutes, unit: '' },
      { label: 'statements of the guard in a minute', value: difference('guard') / restMinutes, unit: '' },
      megabytes('data-services: resident with one database', empty.residentBytes),
      megabytes(labels.resident, memory.residentBytes),
      megabytes('objects on the heap with one database', empty.heapBytes),
      megabytes('objects on the heap with all', memory.heapBytes),
      megabytes(labels.heap, ((memory.heapBytes - empty.heapBytes) / (2 * count)) * 1000),
    ],
  }
}

async function measure(world: World, count: number, observed: Observed): Promise<readonly Figure[]> {
  const { note } = observed
  const first = await world.start()
  const { wire, server } = await world.offer()
  const pattern = await makePattern(world)
  await first.atRest()
  const empty = await memoryOf(first)
  await first.stop()
  note('one is ready')
  const names = Array.from({ length: count }, (_, at) => `rest-${at}`)
  await someAtATime(names, planting, name => plantLike(pattern, name, { client: world.client, server, namespace }))
  note('all are planted')
  const { writes } = await servedRequests(world.admin, written)
  const { before, figures } = await watch(world, { wire, empty }, count, observed)
  return [
    { label: 'databases, each with a credential', value: count, unit: '' },
    { label: 'time at rest', value: restMinutes, unit: 'min' },
    { label: labels.taking, value: before.writes - writes, unit: '' },
    ...figures,
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
      figureAtMost(labels.taking, 0),
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
