// Names that a store on a folder of files can take for paths: with a key that writes into the own bucket, out of it and into that
// of another tenant. What counts is what became of that one: a store of objects takes such names as they stand.
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import { type Attempt, endingWith, inTurn } from '../attack.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import { createHttp, type Http, type HttpAnswer } from '../world/http.ts'
import type { World } from '../world/world.ts'
import { type Credential, credentialOf, valueIn } from './credential.ts'
import { askStore, type StoreRequest } from './store-request.ts'

const name = 'attack-paths'
const treasure = 'treasure'
/** From where a store on files keeps the parts of an upload up to its buckets: versitygw needs four. */
const depths = [1, 2, 3, 4, 5, 6]

export type Scene = { readonly http: Http; readonly own: Credential; readonly others: Credential }

/** The names in a body are XML; those of the platform have nothing to escape. */
const deletion = (keys: readonly string[]): string =>
  `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${keys.map(key => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`

const isDone = ({ status }: HttpAnswer): boolean => status >= 200 && status < 300

async function must(work: Promise<HttpAnswer>, what: string): Promise<void> {
  const { status, text } = await work
  if (status < 200 || status >= 300) throw new Error(`control: ${what}: ${status} ${text}`)
}

async function sceneOf(world: World, serviceClass: string): Promise<Scene> {
  const access = 'ReadWrite' as const
  const others = await credentialOf(world, 'bucket', serviceClass, { as: 'dave', namespace: tenantNamespace, name, access })
  const own = await credentialOf(world, 'bucket', serviceClass, { as: 'gary', namespace: neighbourNamespace, name, access })
  const authority = [world.demo.certificateAuthority, own['ca.crt'] ?? ''].join('\n')
  const scene = { http: createHttp(authority, world.watcher.see), own, others }
  await prepare(scene)
  return scene
}

/** An object of acme; and the key of globex writes and deletes in its own bucket by the same requests. */
export async function prepare({ http, own, others }: Scene): Promise<void> {
  await must(askStore(http, others, { method: 'PUT', key: treasure, body: 'of acme' }), 'acme writes into its bucket')
  await must(askStore(http, own, { method: 'PUT', key: 'own', body: 'of globex' }), 'globex writes into its bucket')
  const body = deletion(['own'])
  await must(askStore(http, own, { method: 'POST', query: { delete: '' }, body }), 'globex deletes in its bucket')
  const { status } = await askStore(http, own, { method: 'HEAD', key: 'own' })
  if (status !== 404) throw new Error(`control: what globex deleted answers ${status}`)
}

/** What acme has in its bucket now. */
async function contents({ http, others }: Scene): Promise<{ readonly status: number; readonly keys: readonly string[] }> {
  const { status, text } = await askStore(http, others, { method: 'GET', query: { 'list-type': '2' } })
  return { status, keys: [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key ?? '') }
}

/** Sends them, and looks at the bucket of acme. `reads`: an answer that is not a refusal shows what is there. */
function attempt(scene: Scene, what: string, requests: readonly StoreRequest[], reads = false): Attempt {
  return {
    name: `gary: ${what}`,
    async run(): Promise<Verdict> {
      const answers: HttpAnswer[] = []
      for (const request of requests) answers.push(await askStore(scene.http, scene.own, request))
      const said = answers.map(({ status, text }) => `${status} ${/<Code>([^<]*)/.exec(text)?.[1] ?? ''}`.trim()).join(', ')
      const shown = answers.find(isDone)
      if (reads && shown !== undefined) return succeeded(`${shown.status} ${shown.text}`)
      if (answers.some(({ status }) => status >= 500)) return unclear(said)
      const { status, keys } = await contents(scene)
      if (status !== 200 && status !== 404) return unclear(`acme lists its bucket: ${status}`)
      if (keys.length !== 1 || keys[0] !== treasure)
        return succeeded(`the bucket of acme has ${keys.join(', ') || 'nothing'}: ${said}`)
      return stopped('data service', `the bucket of acme is as it was; the store answered ${said}`)
    },
  }
}

export async function bucketPathAttempts(world: World, serviceClass: string): Promise<readonly Attempt[]> {
  const scene = await sceneOf(world, serviceClass)
  // Each looks at the same bucket.
  return endingWith(inTurn(attemptsOn(scene)), scene.http.close)
}

export function attemptsOn(scene: Scene): readonly Attempt[] {
  const there = valueIn(scene.others, 'bucket')
  const ids = depths.map(depth => `${'../'.repeat(depth)}${there}`)
  const deletes = (keys: readonly string[]): StoreRequest => ({ method: 'POST', query: { delete: '' }, body: deletion(keys) })
  const ofUploads = (method: 'GET' | 'PUT' | 'DELETE', more: Readonly<Record<string, string>> = {}): readonly StoreRequest[] =>
    ids.map(uploadId => ({ method, key: treasure, query: { uploadId, ...more }, ...(method === 'PUT' && { body: 'of globex' }) }))
  return [
    attempt(scene, `deletes ../${there}/${treasure}, as one of many objects`, [
      deletes([`../${there}/${treasure}`, `x/../../${there}/${treasure}`, `./../${there}/${treasure}`]),
      // The bucket itself, if it is empty now.
      deletes([`../${there}`, `../${there}/`]),
    ]),
    attempt(scene, `lists the parts of the upload ../../../../${there}`, ofUploads('GET'), true),
    attempt(scene, `puts a part into the upload ../../../../${there}`, ofUploads('PUT', { partNumber: '1' })),
    attempt(scene, `aborts the upload ../../../../${there}`, ofUploads('DELETE')),
  ]
}
