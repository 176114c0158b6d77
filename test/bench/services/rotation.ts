// Credentials that are replaced while pods use them: the pods roll as the controllers do it, which are played. Nobody may notice.
import { secrets } from '../../../src/api/builtin/index.ts'
import { bindingSecretName, bindingVersionAnnotation, rolledOutAnnotation } from '../../../src/api/services/binding-secret.ts'
import { serviceBinding } from '../../../src/api/services/service-binding.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { Figure, Measurement } from '../harness/bench.ts'
import { figureAtLeast, figureAtMost } from '../harness/goals.ts'
import { percentile } from '../harness/statistics.ts'
import { someAtATime } from '../load/some-at-a-time.ts'
import { bucketHolding, type Counts, databaseHolding, type Holding, type Pod, startPod, takesLogin, type Values } from './pods.ts'
import { namespace, type World } from './world.ts'

type Kind = 'database' | 'bucket'
/** Of all pods together in a second. */
const requests = 210
/**
 * Fifty credentials are replaced, `count` of them while they are in use, `atOnce` at a time. For each request by a tenant's key
 * versitygw 1.8.0 reads the file of all users (`iamapi/storage/internal.go`), under one lock: with fifty it answers 230 in a
 * second, and more would measure how long its queue is.
 */
export const rotated: Readonly<Record<Kind, { readonly count: number; readonly rounds: number; readonly atOnce: number }>> = {
  database: { count: 50, rounds: 1, atOnce: 50 },
  bucket: { count: 25, rounds: 2, atOnce: 5 },
}
/** A credential is not replaced before it is so old: `paceMilliseconds` of src/data-services/slots. */
const paceMilliseconds = 60_000

const labels = {
  rate: (kind: Kind): string => `requests to the ${kind}s in a second meanwhile`,
  failed: (kind: Kind): string => `of them failed, ${kind}`,
  replaced: (kind: Kind): string => `${kind}: wanted to in the Secret, max`,
  refused: 'database: last session of the former login closed to refused, max',
} as const

type Delivered = { readonly version: string; readonly values: Values }

async function deliveredOf({ client }: World, name: string): Promise<Delivered> {
  const secret = await client.get(secrets, { namespace, name: bindingSecretName(name) })
  return {
    version: secret?.metadata.annotations?.[bindingVersionAnnotation] ?? '',
    values: key => Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8'),
  }
}

type Run = { readonly world: World; readonly kind: Kind; readonly counts: Counts; readonly everyMilliseconds: number }
type Used = { readonly delivered: Delivered; readonly pod: Pod }
/** In seconds; `refused` of databases alone. */
type Replaced = { readonly used: Used; readonly replaced: number; readonly refused: number }

async function roll({ world, kind, counts, everyMilliseconds }: Run, delivered: Delivered): Promise<Used> {
  const { values } = delivered
  const hold: Holding = kind === 'bucket' ? bucketHolding(world.store, values) : databaseHolding(values)
  const pod = startPod(hold, everyMilliseconds, counts)
  await pod.isServing
  return { delivered, pod }
}

/** When the credential may be replaced that is delivered now, by `performance.now()`. */
async function ripeAt({ client }: World, name: string): Promise<number> {
  const found = await client.get(serviceBinding, { namespace, name })
  const issued = found?.status?.slots?.find(({ state }) => state === 'Delivered')?.issuedAt
  return performance.now() + Math.max(0, Date.parse(issued ?? '') + paceMilliseconds - Date.now())
}

async function replace(run: Run, name: string, former: Used): Promise<Replaced> {
  const { world, kind } = run
  const { client } = world
  const ripe = await ripeAt(world, name)
  const patch = (content: object) => client.mergePatch(serviceBinding, { namespace, name }, content, { fieldManager: 'bench' })
  await patch({ spec: { rotate: new Date().toISOString() } })
  const another = async (): Promise<Delivered | undefined> => {
    const delivered = await deliveredOf(world, name)
    return delivered.version !== former.delivered.version ? delivered : undefined
  }
  const usual = { timeoutMilliseconds: limits.usual * 60, everyMilliseconds: 100 }
  const delivered = await waitUntil(`another credential of ${name}`, another, usual)
  const replaced = (performance.now() - ripe) / 1000
  const used = await roll(run, delivered)
  await former.pod.stop()
  const closed = performance.now()
  await patch({ metadata: { annotations: { [rolledOutAnnotation]: delivered.version } } })
  if (kind === 'bucket') return { used, replaced, refused: 0 }
  const { values } = former.delivered
  await waitUntil(`the former login of ${name} to end`, async () => !(await mayLogIn(world, values('username'))), usual)
  const refused = (performance.now() - closed) / 1000
  if (await takesLogin(values)) throw new Error(`the former login of ${name} is taken although it ended`)
  return { used, replaced, refused }
}

/** Asked of the server: a login that is tried would be a session by it. */
function mayLogIn({ server }: World, login: string): Promise<boolean> {
  return server.asAdministrator(async session => {
    return (await session.query('SELECT FROM pg_roles WHERE rolname = $1 AND rolcanlogin', [login])).length > 0
  })
}

export type Rotation = {
  readonly kind: Kind
  readonly names: readonly string[]
  /** Resolves when all have a credential that is ready. */
  readonly make: () => Promise<void>
  readonly remove: () => Promise<void>
}

/** None is replaced before it is a minute old. */
export function rotation(world: World, { kind, names, make, remove }: Rotation): Measurement {
  const { rounds, atOnce } = rotated[kind]
  return {
    name: `rotation of ${kind}s`,
    title: `credentials of ${rounds} times ${names.length} ${kind}s replaced while pods use them, ${Math.min(atOnce, names.length)} at once`,
    async run(): Promise<readonly Figure[]> {
      const counts: Counts = { answered: 0, failed: 0 }
      const run: Run = { world, kind, counts, everyMilliseconds: (names.length / requests) * 1000 }
      const all: Omit<Replaced, 'used'>[] = []
      let [answered, milliseconds] = [0, 0]
      for (let round = 0; round < rounds; round++) {
        await make()
        const used = new Map<string, Used>()
        await someAtATime(names, 8, async name => used.set(name, await roll(run, await deliveredOf(world, name))))
        const [began, before] = [performance.now(), counts.answered]
        await someAtATime([...used], atOnce, async ([name, former]) => {
          const { used: now, ...seconds } = await replace(run, name, former)
          used.set(name, now)
          all.push(seconds)
        })
        answered += counts.answered - before
        milliseconds += performance.now() - began
        for (const { pod } of used.values()) await pod.stop()
        await remove()
      }
      const rate = (answered / milliseconds) * 1000
      const seconds = (label: string, value: number): Figure => ({ label, value, unit: 's' })
      const replaced = all.map(one => one.replaced)
      const refused = all.map(one => one.refused)
      return [
        { label: `${kind}: credentials that were replaced`, value: all.length, unit: '' },
        { label: labels.rate(kind), value: rate, unit: '' },
        { label: labels.failed(kind), value: counts.failed, unit: '' },
        seconds(`${kind}: wanted to in the Secret, p50`, percentile(replaced, 50)),
        seconds(labels.replaced(kind), Math.max(...replaced)),
        ...(kind === 'database' ? [seconds(labels.refused, Math.max(...refused))] : []),
      ]
    },
    goals: [
      figureAtLeast(labels.rate(kind), 200),
      figureAtMost(labels.failed(kind), 0),
      figureAtMost(labels.replaced(kind), 10),
      ...(kind === 'database' ? [figureAtMost(labels.refused, 5)] : []),
    ],
  }
}
