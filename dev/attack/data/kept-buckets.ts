// More buckets with objects than a tenant may leave in the store: all of them deleted at once with `Keep`. What counts is what
// became of the Buckets: one that is gone left its bucket behind, where no quota and no plan counts it any more.
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import { type Attempt, endingWith } from '../attack.ts'
import { groupPath, mergePatch } from '../cluster/api-attempts.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import { createHttp, type Http } from '../world/http.ts'
import type { World } from '../world/world.ts'
import { type Credential, credentialOf, type ServicesWorld, serviceGroup } from './credential.ts'
import { askStore } from './store-request.ts'

/** docs/guide/buckets.md: “Of one class a tenant keeps ten buckets”. */
const maxKept = 10
const names = Array.from({ length: maxKept + 2 }, (_, number) => `attack-kept-${number}`)
const tooMany = 'KeptTooMany'

export type Scene = {
  readonly world: ServicesWorld
  /** For a store whose certificate this authority signs. */
  readonly openHttp: (authority: string | undefined) => Http
  readonly serviceClass: string
  readonly namespace: string
}

const together = <T>(work: (name: string) => Promise<T>): Promise<readonly T[]> => Promise.all(names.map(work))

function pathsIn(namespace: string) {
  const one = (resource: string) => (name: string) => `${groupPath(serviceGroup, namespace, resource)}/${name}`
  return { bucket: one('buckets'), binding: one('servicebindings') }
}

/** Undefined once it is gone. */
async function readyOf({ world, namespace }: Scene, name: string) {
  const { status, text } = await world.api('gary', 'GET', pathsIn(namespace).bucket(name))
  if (status === 404) return undefined
  if (status !== 200) throw new Error(`gary cannot read Bucket ${name}: ${status} ${text}`)
  type Read = { readonly status?: { readonly conditions?: readonly { type: string; reason: string; message: string }[] } }
  const { conditions = [] } = (JSON.parse(text) as Read).status ?? {}
  return conditions.find(({ type }) => type === 'Ready') ?? { reason: 'none', message: 'it says nothing yet' }
}

async function remove({ world }: Scene, path: string): Promise<void> {
  const { status, text } = await world.api('gary', 'DELETE', path)
  if (status >= 300 && status !== 404) throw new Error(`gary cannot delete ${path}: ${status} ${text}`)
}

/** A Bucket, and a key of it. */
function keyOf({ world, serviceClass, namespace }: Scene, name: string): Promise<Credential> {
  return credentialOf(world, 'bucket', serviceClass, { as: 'gary', namespace, name, access: 'ReadWrite', whenDeleted: 'Keep' })
}

async function put(http: Http, credential: Credential): Promise<void> {
  const { status, text } = await askStore(http, credential, { method: 'PUT', key: 'left', body: 'of globex' })
  if (status !== 200) throw new Error(`control: globex writes into its bucket: ${status} ${text}`)
}

/** Buckets with one object each, and nothing that uses them any more. */
async function fill(scene: Scene): Promise<void> {
  const credentials = await together(name => keyOf(scene, name))
  const http = scene.openHttp(credentials[0]?.['ca.crt'])
  try {
    for (const credential of credentials) await put(http, credential)
  } finally {
    await http.close()
  }
  await together(name => remove(scene, pathsIn(scene.namespace).binding(name)))
}

/** Deletes what any of the names has, or left in the store: a Bucket of the same name finds it again. Idempotent. */
export async function dropKept(scene: Scene): Promise<void> {
  const { world, serviceClass, namespace } = scene
  const { bucket, binding } = pathsIn(namespace)
  const spec = { class: serviceClass, whenDeleted: 'Delete', emptyWhenDeleted: true }
  const end = async (name: string): Promise<void> => {
    const isGone = async () => (await readyOf(scene, name)) === undefined || undefined
    await remove(scene, bucket(name))
    await waitUntil(`Bucket ${name} to be gone`, isGone, { timeoutMilliseconds: limits.rollout })
  }
  await together(async name => {
    await remove(scene, binding(name))
    // One that waits because too many are kept goes by this.
    await world.api('gary', 'PATCH', bucket(name), { json: { spec }, contentType: mergePatch })
    await end(name)
    await world.journal.note({ kind: 'object', path: bucket(name) })
    const json = { apiVersion: serviceGroup, kind: 'Bucket', metadata: { name }, spec }
    const { status, text } = await world.api('gary', 'POST', groupPath(serviceGroup, namespace, 'buckets'), { json })
    if (status !== 201) throw new Error(`gary cannot make Bucket ${name}: ${status} ${text}`)
    const finds = async () => (await readyOf(scene, name))?.reason === 'Provisioned' || undefined
    await waitUntil(`Bucket ${name} to have what was kept`, finds, { timeoutMilliseconds: limits.rollout })
    await end(name)
  })
}

export async function leaveThemAll(scene: Scene): Promise<Verdict> {
  await fill(scene)
  await together(name => remove(scene, pathsIn(scene.namespace).bucket(name)))
  const left = await waitUntil('each Bucket to be gone or refused', async () => {
    const ready = await together(name => readyOf(scene, name))
    return ready.every(one => one === undefined || one.reason === tooMany) ? ready : undefined
  }).catch(() => together(name => readyOf(scene, name)))
  const kept = left.filter(one => one === undefined).length
  const refused = left.find(one => one?.reason === tooMany)
  if (kept > maxKept) return succeeded(`${kept} buckets with objects are kept, of which no Bucket is left`)
  const said = left.map(one => one?.reason ?? 'kept').join(', ')
  return kept === maxKept && refused !== undefined ? stopped('bound', `${kept} are kept; ${refused.message}`) : unclear(said)
}

export async function keptBucketAttempts(world: World, serviceClass: string): Promise<readonly Attempt[]> {
  const openHttp = (authority = ''): Http =>
    createHttp([world.demo.certificateAuthority, authority].join('\n'), world.watcher.see)
  const scene = { world, openHttp, serviceClass, namespace: neighbourNamespace }
  // Those of a run that was killed.
  await dropKept(scene)
  const run = () => leaveThemAll(scene)
  return endingWith([{ name: `gary: deletes ${names.length} full buckets at once, and keeps each`, run }], () => dropKept(scene))
}
