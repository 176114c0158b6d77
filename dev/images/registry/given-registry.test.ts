// How a registry that the user named is asked: what it wants from clients without a credential, and that a credential goes to
// it alone. Over real HTTP.
import { statSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { authorizeAt, basicOf, challengeOf, isAccepted, parseGivenRegistry } from './given-registry.ts'
import { createRegistryClient } from './registry-client.ts'

const account = `Basic ${Buffer.from('ada:pw').toString('base64')}`
let server: Server
let host: string
let seen: IncomingMessage[]
let answer: (request: IncomingMessage, response: ServerResponse) => void

beforeEach(async () => {
  seen = []
  server = createServer((request, response) => {
    seen.push(request)
    answer(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
})

function wants(challenge: string, credential: string) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url?.startsWith('/token')) {
      const accepted = request.headers.authorization === account
      response.writeHead(accepted ? 200 : 401).end(JSON.stringify({ token: 't1' }))
    } else if (request.headers.authorization === credential) response.writeHead(200).end()
    else response.writeHead(401, { 'www-authenticate': challenge }).end()
  }
}

test('a name is host and path; addresses of private networks are asked by http as kpack does, others by https', () => {
  expect(parseGivenRegistry('ghcr.io/acme/sekisho')).toEqual({ host: 'ghcr.io', prefix: 'acme/sekisho/', scheme: 'https' })
  for (const plain of ['10.88.0.1:5000', 'localhost:5000', '192.168.1.2', '172.20.0.1:5000', 'registry.local:5000'])
    expect(parseGivenRegistry(plain)).toMatchObject({ prefix: '', scheme: 'http' })
  for (const safe of ['172.32.0.1', '11.0.0.1', 'localhost.example.com']) expect(parseGivenRegistry(safe).scheme).toBe('https')
  for (const wrong of ['https://ghcr.io', 'acme/sekisho', 'ghcr.io/', 'ghcr.io/Acme', 'u:p@ghcr.io'])
    expect(() => parseGivenRegistry(wrong)).toThrow('host[:port]')
})

test('an account comes from a Docker configuration, by its host', () => {
  const configuration = JSON.stringify({ auths: { 'r.example.com': { auth: 'YTpi' }, 'other.example.com': {} } })
  expect(basicOf(configuration, 'r.example.com')).toBe('Basic YTpi')
  expect(basicOf(configuration, 'other.example.com')).toBeUndefined()
  expect(() => basicOf('{', 'r.example.com')).toThrow('SEKISHO_UP_REGISTRY_CREDENTIALS')
})

test('an open registry is asked without a credential', async () => {
  answer = (_request, response) => void response.writeHead(200).end()
  const registry = parseGivenRegistry(host)
  expect(await challengeOf(registry)).toEqual({ kind: 'none' })
  expect(await authorizeAt(registry, { basic: account, tokens: undefined })([])).toBeUndefined()
})

test('a registry with accounts accepts the right one only', async () => {
  answer = wants('Basic realm="r"', account)
  const registry = parseGivenRegistry(host)
  expect(await isAccepted(registry, authorizeAt(registry, { basic: account, tokens: undefined }))).toBe(true)
  expect(await isAccepted(registry, authorizeAt(registry, { basic: 'Basic eA==', tokens: undefined }))).toBe(false)
  expect(await isAccepted(registry, authorizeAt(registry, { basic: undefined, tokens: undefined }))).toBe(false)
})

test('a registry with a token server gets a token for exactly the repositories, or one that our authority signed', async () => {
  const registry = parseGivenRegistry(`${host}/team`)
  answer = wants(`Bearer realm="http://${host}/token",service="s"`, 'Bearer t1')
  expect(await isAccepted(registry, authorizeAt(registry, { basic: account, tokens: undefined }))).toBe(true)
  const asked = new URL(seen.find(({ url }) => url?.startsWith('/token'))?.url ?? '', `http://${host}`)
  expect([asked.searchParams.get('service'), asked.searchParams.getAll('scope')]).toEqual([
    's',
    ['repository:team/sekisho/sekisho:pull,push'],
  ])
  await expect(isAccepted(registry, authorizeAt(registry, { basic: 'Basic eA==', tokens: undefined }))).rejects.toThrow(
    'refused the account',
  )
  expect(await authorizeAt(registry, { basic: account, tokens: async () => 'own' })([])).toBe('Bearer own')
})

test('a registry by https that names a token server without TLS does not get the password', async () => {
  answer = wants(`Bearer realm="http://${host}/token"`, 'Bearer t1')
  const plain = parseGivenRegistry(host)
  const challenge = await challengeOf(plain)
  expect(challenge).toMatchObject({ kind: 'bearer' })
  // The challenge is read over http here, and judged as if it had come by https.
  let reads = 0
  const registry = {
    host,
    prefix: '',
    get scheme() {
      return reads++ === 0 ? ('http' as const) : ('https' as const)
    },
  }
  await expect(authorizeAt(registry, { basic: account, tokens: undefined })([])).rejects.toThrow('without TLS')
  expect(seen.some(({ url }) => url?.startsWith('/token'))).toBe(false)
})

test('repositories lie below the path, and an upload that is sent elsewhere does not take the credential with it', async () => {
  const elsewhere = createServer((request, response) => {
    seen.push(request)
    response.writeHead(201).end()
  })
  await new Promise<void>(resolve => elsewhere.listen(0, '127.0.0.1', resolve))
  const other = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
  try {
    answer = (request, response) =>
      void response.writeHead(request.method === 'POST' ? 202 : 201, { location: `${other}/upload` }).end()
    const client = createRegistryClient(host, { authorize: async () => account, prefix: 'team/' })
    await client.uploadBlob('sekisho/sekisho', 'sha256:00', import.meta.filename, statSync(import.meta.filename).size)
    await client.putManifest('sekisho/sekisho', '1', 'text/plain', Buffer.from('x'))
    expect(seen.map(({ method, url, headers }) => [method, url, headers.authorization])).toEqual([
      ['POST', '/v2/team/sekisho/sekisho/blobs/uploads/', account],
      ['PUT', '/upload?digest=sha256%3A00', undefined],
      ['PUT', '/v2/team/sekisho/sekisho/manifests/1', account],
    ])
  } finally {
    elsewhere.closeAllConnections()
    await new Promise(resolve => elsewhere.close(resolve))
  }
})
