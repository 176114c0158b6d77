// A push sends each byte once. The registry is an HTTP server on loopback that stores blobs as the specification says.
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { textFile } from '../archive/tree-entry.ts'
import { createBlobStore } from '../blobs/blob-store.ts'
import { assembleImage } from '../image/assemble.ts'
import type { ImagePlan } from '../image/image-plan.ts'
import { type PushDeps, type PushResult, pushImage } from './push-image.ts'
import { createRegistryClient } from './registry-client.ts'

let scratch = ''
let server: Server
let uploads = 0
/** `repository@digest` and `repository:tag` -> digest. */
let held: Map<string, string>

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

function sha256(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

/** Keeps a manifest or a finished upload; false for an upload whose digest or state is wrong. */
function keep(url: URL, kind: string, names: { readonly repository: string; readonly rest: string }, body: Buffer): boolean {
  const digest = sha256(body)
  if (kind === 'manifests') {
    held.set(`${names.repository}:${names.rest}`, digest)
    return true
  }
  if (url.searchParams.get('digest') !== digest || url.searchParams.get('_state') !== 'x') return false
  uploads++
  held.set(`${names.repository}@${digest}`, digest)
  return true
}

/** Mounts a blob that another repository has. */
function mounted(url: URL, repository: string): boolean {
  const mount = url.searchParams.get('mount')
  if (mount === null || !held.has(`${url.searchParams.get('from')}@${mount}`)) return false
  held.set(`${repository}@${mount}`, mount)
  return true
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://registry')
  const [, repository = '', kind = '', rest = ''] = /^\/v2\/(.+?)\/(blobs|manifests)\/(.*)$/.exec(url.pathname) ?? []
  if (request.method === 'HEAD') {
    const digest = held.get(`${repository}${kind === 'blobs' ? '@' : ':'}${rest}`)
    if (digest === undefined) return void response.writeHead(404).end()
    return void response.writeHead(200, { 'docker-content-digest': digest }).end()
  }
  if (request.method === 'POST') {
    const known = mounted(url, repository)
    return void response.writeHead(known ? 201 : 202, { location: `/v2/${repository}/blobs/uploads/1?_state=x` }).end()
  }
  const kept = keep(url, kind, { repository, rest }, await bodyOf(request))
  response.writeHead(kept ? 201 : 400).end()
}

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'sekisho-push-'))
  uploads = 0
  held = new Map()
  server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
  await rm(scratch, { recursive: true, force: true })
})

function plan(repository: string, top: string): ImagePlan {
  const layer = (name: string, text: string) => ({ name, key: [text], entries: async () => [textFile(name, text)] })
  return {
    repository,
    tag: '1',
    layers: [layer('base', 'same'), layer('top', top)],
    config: () => ({ user: '1001', environment: { A: 'b' } }),
  }
}

type Push = (plan: ImagePlan) => Promise<PushResult>

function createPush(): Push {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const store = createBlobStore(join(scratch, 'blobs'))
  const deps: PushDeps = { registry: createRegistryClient(`127.0.0.1:${port}`), store, knownHomes: new Map() }
  return async wanted => {
    const image = await assembleImage(wanted, { store, recordFolder: join(scratch, 'records'), onLayer: () => undefined })
    return pushImage(image, [wanted.tag], deps)
  }
}

test('an image is uploaded once: a second push changes nothing', async () => {
  const push = createPush()
  expect((await push(plan('one', 'x'))).changed).toBe(true)
  expect(uploads).toBe(3)
  expect(await push(plan('one', 'x'))).toEqual({ changed: false, uploadedBytes: 0 })
  expect(uploads).toBe(3)
})

test('only a changed layer is sent, with the configuration that names it', async () => {
  const push = createPush()
  await push(plan('one', 'x'))
  await push(plan('one', 'y'))
  expect(uploads).toBe(5)
})

test('a layer of another repository is mounted and not sent', async () => {
  const push = createPush()
  await push(plan('one', 'x'))
  await push(plan('two', 'x'))
  expect(uploads).toBe(4)
})

test('a registry that does not answer is reported with the fix', async () => {
  const push = createPush()
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
  await expect(push(plan('one', 'x'))).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('make up') })
})
