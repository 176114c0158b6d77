// The registry wall: Debian's docker-registry with the platform's token server. Tenant globex tries what a build, a pod or a
// stranger could try against tenant acme and the platform; every refusal is the registry's own.
import { createHash } from 'node:crypto'
import { createServer, request as plainRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeCertificateAuthority } from '../../src/identity/certificate-authority.ts'
import { createCertifiedSigner } from '../../src/identity/certified-signer.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { followedRegistry } from '../../src/services/followed-tags/followed-registry.ts'
import { createTagReader } from '../../src/services/followed-tags/read-tag.ts'
import type { Credential } from '../../src/services/registry/credentials.ts'
import { readImageLabels } from '../../src/services/registry/image-labels.ts'
import { createRegistryReader, type ReaderAuthorization } from '../../src/services/registry/registry-reader.ts'
import { createTokenIssuer } from '../../src/services/registry/token-server/token-issuer.ts'
import { hasDockerRegistry, registryService, startDockerRegistry, type TestRegistry } from '../fixtures/docker-registry.ts'
import { projectMetadata } from '../fixtures/small-registry.ts'

const acme = { namespace: 'acme', uid: 'uid-acme', generation: '' }
const inc = { namespace: 'acme-inc', uid: 'uid-inc', generation: '' }
const globex = { namespace: 'globex', uid: 'uid-globex', generation: '' }

const manifestType = 'application/vnd.docker.distribution.manifest.v2+json'
const configType = 'application/vnd.docker.container.image.v1+json'
const commit = 'c'.repeat(40)

const connections = new Agent()
let registry: TestRegistry
beforeAll(async () => {
  if (!hasDockerRegistry) throw new Error('docker-registry is not installed: apt-get install docker-registry (make up does it)')
  registry = await startDockerRegistry([acme, inc, globex])
})
afterAll(async () => {
  await connections.close()
  await registry?.stop()
})

type Call = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string }

/** A token for the scopes, asked for as clients do: GET with Basic. */
async function tokenFor(credential: Credential | undefined, ...scopes: readonly string[]): Promise<string> {
  const url = new URL(registry.realm)
  url.searchParams.set('service', registryService)
  for (const scope of scopes) url.searchParams.append('scope', scope)
  const headers: Record<string, string> = credential === undefined ? {} : { authorization: basic(credential) }
  const answer = await fetch(url, { headers })
  if (answer.status !== 200) throw new Error(`token: ${answer.status}`)
  return ((await answer.json()) as { token: string }).token
}

function basic({ username, password }: Credential): string {
  return `Basic ${Buffer.from(`${username}:${password.reveal()}`).toString('base64')}`
}

/**
 * What a client does: try, ask for a token with the scope of the challenge, try again. Resolves to the registry's last answer.
 */
async function call(credential: Credential | undefined, path: string, options: Call = {}): Promise<Response> {
  const first = await send(path, options)
  if (first.status !== 401) return first
  const scope = /scope="([^"]*)"/.exec(first.headers.get('www-authenticate') ?? '')?.[1]
  const token = await tokenFor(credential, ...(scope === undefined ? [] : [scope])).catch(() => undefined)
  if (token === undefined) return first
  return send(path, { ...options, headers: { ...options.headers, authorization: `Bearer ${token}` } })
}

/** The path is sent as it is written: `fetch` would resolve the steps upward itself. */
async function send(path: string, { method = 'GET', headers = {}, body }: Call): Promise<Response> {
  const answer = await connections.request({
    origin: `http://${registry.host}`,
    path,
    method: method as 'GET',
    headers,
    body: body ?? null,
  })
  const bytes = await answer.body.arrayBuffer()
  const entries = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)])
  return new Response(bytes.byteLength === 0 ? null : bytes, { status: answer.statusCode, headers: entries })
}

function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

async function pushBlob(credential: Credential, repository: string, content: string): Promise<string> {
  const begun = await call(credential, `/v2/${repository}/blobs/uploads/`, { method: 'POST' })
  if (begun.status !== 202) throw new Error(`upload to ${repository}: ${begun.status}`)
  const location = new URL(begun.headers.get('location') ?? '', `http://${registry.host}`)
  location.searchParams.set('digest', digestOf(content))
  const headers = { 'content-type': 'application/octet-stream' }
  const ended = await call(credential, `${location.pathname}${location.search}`, { method: 'PUT', headers, body: content })
  if (ended.status !== 201) throw new Error(`blob of ${repository}: ${ended.status}`)
  return digestOf(content)
}

/** Resolves to the digest of the manifest. */
async function pushImage(credential: Credential, repository: string, tag: string, labels = {}): Promise<string> {
  const configuration = JSON.stringify({ config: { Labels: labels }, rootfs: { type: 'layers', diff_ids: [] } })
  const digest = await pushBlob(credential, repository, configuration)
  const config = { mediaType: configType, digest, size: configuration.length }
  const manifest = JSON.stringify({ schemaVersion: 2, mediaType: manifestType, config, layers: [] })
  const answer = await call(credential, `/v2/${repository}/manifests/${tag}`, {
    method: 'PUT',
    headers: { 'content-type': manifestType },
    body: manifest,
  })
  if (answer.status !== 201) throw new Error(`manifest of ${repository}: ${answer.status}`)
  return digestOf(manifest)
}

const buildOf = (tenant: typeof acme): Credential => registry.credentials.ofTenant('build', tenant)
const pullOf = (tenant: typeof acme): Credential => registry.credentials.ofTenant('pull', tenant)

describe('what is needed works', () => {
  test('a build pushes, reads and replaces its cache; a pod reads', async () => {
    const digest = await pushImage(buildOf(acme), 'apps/acme/shop', 'cache-1')
    const accept = { accept: manifestType }
    expect((await call(buildOf(acme), '/v2/apps/acme/shop/manifests/cache-1', { headers: accept })).status).toBe(200)
    expect((await call(pullOf(acme), '/v2/apps/acme/shop/manifests/cache-1', { headers: accept })).status).toBe(200)
    expect((await call(buildOf(acme), `/v2/apps/acme/shop/manifests/${digest}`, { method: 'DELETE' })).status).toBe(202)
  })

  test('kpack pushes the builder, and builds read and mount it', async () => {
    await pushImage(registry.credentials.ofPlatform(), 'cnb/builder', '1')
    const blob = await pushBlob(registry.credentials.ofPlatform(), 'cnb/run', 'layer')
    expect((await call(buildOf(acme), '/v2/cnb/builder/manifests/1', { headers: { accept: manifestType } })).status).toBe(200)
    const token = await tokenFor(buildOf(acme), 'repository:apps/acme/shop:pull,push', 'repository:cnb/run:pull')
    const mounted = await fetch(`http://${registry.host}/v2/apps/acme/shop/blobs/uploads/?mount=${blob}&from=cnb/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
    expect(mounted.status).toBe(201)
  })

  test('the form of containerd is answered like the other', async () => {
    const { username, password } = pullOf(acme)
    const scope = 'repository:apps/acme/shop:pull'
    const form = {
      grant_type: 'password',
      service: registryService,
      client_id: 'containerd',
      scope,
      username,
      password: password.reveal(),
    }
    const answer = await fetch(registry.realm, { method: 'POST', body: new URLSearchParams(form) })
    expect(answer.status).toBe(200)
    const { access_token: token, expires_in: seconds } = (await answer.json()) as { access_token: string; expires_in: number }
    expect(seconds).toBe(300)
    const list = await fetch(`http://${registry.host}/v2/apps/acme/shop/tags/list`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect([200, 404]).toContain(list.status)
    const refresh = await fetch(registry.realm, {
      method: 'POST',
      body: new URLSearchParams({ ...form, grant_type: 'refresh_token' }),
    })
    expect(refresh.status).toBe(400)
  })

  test('a token that was signed before the key was renewed stays valid', async () => {
    const token = await tokenFor(buildOf(acme), 'repository:apps/acme/shop:pull')
    const signer = await createCertifiedSigner({ authority: registry.authority, commonName: 'next', clock: systemClock })
    const issue = createTokenIssuer({ signer, service: registryService, issuer: 'sekisho', clock: systemClock })
    const next = (await issue('x', [{ type: 'repository', name: 'apps/acme/shop', actions: ['pull'] }])).token
    for (const each of [token, next]) {
      const answer = await fetch(`http://${registry.host}/v2/apps/acme/shop/tags/list`, {
        headers: { authorization: `Bearer ${each}` },
      })
      expect([200, 404]).toContain(answer.status)
    }
  })
})

describe('what another tenant may not', () => {
  let victim = ''
  beforeAll(async () => {
    victim = await pushImage(buildOf(acme), 'apps/acme/private', 'cache-1', { secret: 'source' })
    await pushImage(registry.credentials.ofPlatform(), 'cnb/builder', '1')
    await pushImage(buildOf(globex), 'apps/globex/site', '1')
  })
  const attackers = (): readonly (readonly [string, Credential | undefined])[] => [
    ['a build of globex', buildOf(globex)],
    ['a pod of globex', pullOf(globex)],
    ['a build of acme-inc', buildOf(inc)],
    ['kpack', registry.credentials.ofPlatform()],
    ['a stranger', undefined],
    ['a wrong password', { username: 'build.acme', password: new SecretString('guess') }],
    ['the password of a pod as that of a build', { ...pullOf(acme), username: 'build.acme' }],
  ]
  const private_ = '/v2/apps/acme/private'
  const attempts: readonly (readonly [string, string, Call])[] = [
    ['list all repositories', '/v2/_catalog', {}],
    ['list tags', `${private_}/tags/list`, {}],
    ['read the manifest', `${private_}/manifests/cache-1`, { headers: { accept: manifestType } }],
    [
      'poison the cache',
      `${private_}/manifests/cache-1`,
      { method: 'PUT', headers: { 'content-type': manifestType }, body: '{}' },
    ],
    ['start an upload', `${private_}/blobs/uploads/`, { method: 'POST' }],
    ['delete the tag', `${private_}/manifests/cache-1`, { method: 'DELETE' }],
    ['step upward', '/v2/apps/globex/../acme/private/manifests/cache-1', {}],
    ['step upward, encoded', '/v2/apps/globex/%2e%2e/acme/private/manifests/cache-1', {}],
    ['step upward, encoded slash', '/v2/apps/globex%2f..%2facme/private/manifests/cache-1', {}],
    ['an encoded slash', '/v2/apps%2facme%2fprivate/manifests/cache-1', {}],
    ['upper case', '/v2/apps/ACME/private/manifests/cache-1', {}],
    ['a doubled slash', '/v2//apps//acme/private/manifests/cache-1', {}],
    ['the path itself', '/v2/apps/acme/manifests/cache-1', {}],
  ]

  test('whoever it is, whatever is tried, the registry refuses', async () => {
    const succeeded: string[] = []
    for (const [who, credential] of attackers())
      for (const [what, path, options] of attempts) {
        const { status } = await call(credential, path, options)
        if (status < 300) succeeded.push(`${who}: ${what} (${status})`)
      }
    expect(succeeded).toEqual([])
    const still = await call(buildOf(acme), `${private_}/manifests/cache-1`, {
      method: 'HEAD',
      headers: { accept: manifestType },
    })
    expect(still.headers.get('docker-content-digest')).toBe(victim)
  })

  test('a pod cannot push to its own path, and a build cannot replace the builder', async () => {
    await expect(pushImage(pullOf(globex), 'apps/globex/site', '2')).rejects.toThrow('401')
    await expect(pushImage(buildOf(globex), 'cnb/builder', '1')).rejects.toThrow('401')
    await expect(pushImage(buildOf(globex), 'kpack/lifecycle', '1')).rejects.toThrow('401')
    await expect(pushImage(buildOf(globex), 'apps/other/site', '1')).rejects.toThrow('401')
  })

  test('a blob of another tenant cannot be mounted', async () => {
    const manifest = await call(buildOf(acme), `${private_}/manifests/cache-1`, { headers: { accept: manifestType } })
    const { config } = (await manifest.json()) as { config: { digest: string } }
    const token = await tokenFor(buildOf(globex), 'repository:apps/globex/site:pull,push', 'repository:apps/acme/private:pull')
    const headers = { authorization: `Bearer ${token}` }
    const mount = `http://${registry.host}/v2/apps/globex/site/blobs/uploads/?mount=${config.digest}&from=apps/acme/private`
    const answer = await fetch(mount, { method: 'POST', headers })
    // 202 is an ordinary upload of one's own; 201 would be the mount.
    expect(answer.status).not.toBe(201)
    const blob = await fetch(`http://${registry.host}/v2/apps/globex/site/blobs/${config.digest}`, { headers })
    expect(blob.status).toBe(404)
  })

  test('a token is for the scopes that it names, and for nothing else', async () => {
    const token = await tokenFor(buildOf(globex), 'repository:apps/globex/site:pull,push', 'repository:apps/acme/private:pull')
    const read = (repository: string) =>
      fetch(`http://${registry.host}/v2/${repository}/tags/list`, { headers: { authorization: `Bearer ${token}` } })
    expect((await read('apps/globex/site')).status).toBe(200)
    expect((await read('apps/acme/private')).status).toBe(401)
  })

  test('a token of another authority is refused', async () => {
    const authority = await makeCertificateAuthority({ commonName: 'test-registry', now: new Date(), lifetimeDays: 2 })
    const signer = await createCertifiedSigner({ authority, commonName: 'sekisho-registry-tokens', clock: systemClock })
    const issue = createTokenIssuer({ signer, service: registryService, issuer: 'sekisho', clock: systemClock })
    const { token } = await issue('build.acme', [{ type: 'repository', name: 'apps/acme/private', actions: ['pull'] }])
    const headers = { authorization: `Bearer ${token}` }
    expect((await fetch(`http://${registry.host}${private_}/tags/list`, { headers })).status).toBe(401)
  })

  test('without a credential there is no token, not even an empty one', async () => {
    await expect(tokenFor(undefined, 'repository:cnb/builder:pull')).rejects.toThrow('401')
    expect(registry.counts.get('refused')).toBeGreaterThan(0)
  })
})

describe('a credential ends', () => {
  test('with its generation and with its tenant, at the next request', async () => {
    const tenant = { namespace: 'ending', uid: 'uid-ending', generation: '' }
    registry.tenants.push(tenant)
    const before = buildOf(tenant)
    await pushImage(before, 'apps/ending/app', '1')
    const at = registry.tenants.indexOf(tenant)
    registry.tenants[at] = { ...tenant, generation: '2' }
    await expect(pushImage(before, 'apps/ending/app', '2')).rejects.toThrow('401')
    const after = buildOf({ ...tenant, generation: '2' })
    await pushImage(after, 'apps/ending/app', '2')
    registry.tenants.splice(at, 1)
    await expect(pushImage(after, 'apps/ending/app', '3')).rejects.toThrow('401')
  })
})

describe('an image proves its commit', () => {
  const label = { 'io.buildpacks.project.metadata': projectMetadata(commit) }
  async function labels(image: string, authorization: ReaderAuthorization) {
    const reader = createRegistryReader(registry.host, authorization)
    try {
      return await readImageLabels(reader.read, image)
    } finally {
      await reader.close()
    }
  }
  const own: ReaderAuthorization = {
    tokenFor: async name => (await registry.issue('platform', [{ type: 'repository', name, actions: ['pull'] }])).token,
  }

  test('read by digest with a token of the platform, and with an account by the challenge', async () => {
    const digest = await pushImage(buildOf(acme), 'apps/acme/shop', 'built', label)
    const image = `${registry.host}/apps/acme/shop@${digest}`
    const read = { kind: 'labels', labels: label, entryPoint: [], ports: [] }
    expect(await labels(image, own)).toEqual(read)
    const account: ReaderAuthorization = { credentialFor: async () => pullOf(acme) }
    expect(await labels(image, account)).toEqual(read)
  })

  test('an image that is gone, a refused credential, a tag and a registry that is away are told apart', async () => {
    const absent = `${registry.host}/apps/acme/shop@sha256:${'0'.repeat(64)}`
    expect(await labels(absent, own)).toMatchObject({ kind: 'unreadable', permanent: true })
    const stranger: ReaderAuthorization = { credentialFor: async () => pullOf(globex) }
    expect(await labels(absent, stranger)).toMatchObject({
      kind: 'unreadable',
      permanent: false,
      message: expect.stringContaining('refused'),
    })
    expect(await labels(`${registry.host}/apps/acme/shop:built`, own)).toMatchObject({ kind: 'unreadable', permanent: true })
    const away = createRegistryReader('127.0.0.1:1', own)
    const image = `127.0.0.1:1/apps/acme/shop@sha256:${'0'.repeat(64)}`
    expect(await readImageLabels(away.read, image)).toMatchObject({ kind: 'unreadable', permanent: false })
    await away.close()
  })
})

describe('the tag of an image, asked for as a stranger', () => {
  test('is read where everybody may, and where a token server gives nothing, nothing is read', async () => {
    const digest = await pushImage(buildOf(acme), 'apps/acme/shop', 'followed')
    const reader = createTagReader(systemClock)
    const read = (item: string, tag = 'followed') =>
      reader.read({ registry: followedRegistry(item), repository: 'apps/acme/shop', tag })
    const { token } = await registry.issue('platform', [{ type: 'repository', name: 'apps/acme/shop', actions: ['pull'] }])
    // The same registry as one that asks nobody for a token.
    const open = createServer((request, response) => {
      const headers = { accept: request.headers.accept, authorization: `Bearer ${token}` }
      const forwarded = plainRequest(`http://${registry.host}${request.url}`, { method: request.method, headers }, answer => {
        response.writeHead(answer.statusCode ?? 0, answer.headers)
        answer.pipe(response)
      })
      forwarded.end()
    })
    await new Promise<void>(resolve => open.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = open.address() as AddressInfo
      expect(await read(`http://127.0.0.1:${port}`)).toEqual({ kind: 'digest', digest })
      expect(await read(`http://127.0.0.1:${port}`, 'absent')).toMatchObject({ message: 'has no such image or tag' })
      const refused = { kind: 'unreadable', message: expect.stringContaining('without a credential') }
      const before = registry.counts.get('refused') ?? 0
      expect(await read(`http://${registry.host}`)).toEqual(refused)
      expect(registry.counts.get('refused') ?? 0).toBe(before)
      expect(await read(`http://${registry.host}=${new URL(registry.realm).host}`)).toEqual(refused)
      expect(registry.counts.get('refused')).toBe(before + 1)
    } finally {
      await reader.close()
      open.closeAllConnections()
      open.close()
    }
  })
})

// The last: it uses up what the token server allows the address of this process.
describe('a client without a credential', () => {
  test('guesses only a limited number of times, and disturbs nobody who has a credential', async () => {
    const guess = async (): Promise<number> => {
      const headers = { authorization: basic({ username: 'build.acme', password: new SecretString('guess') }) }
      return (await fetch(registry.realm, { headers })).status
    }
    const answers = await Promise.all(Array.from({ length: 100 }, guess))
    expect(new Set(answers)).toEqual(new Set([401, 429]))
    expect(await tokenFor(buildOf(acme), 'repository:apps/acme/shop:pull')).not.toBe('')
  })
})
