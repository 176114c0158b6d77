// Uploads to the registry that have begun: continued, finished, read or ended by another tenant, by their id and by the signed
// state in their address; layers mounted across repositories; and scopes widened in other ways than by their text.
import { randomBytes } from 'node:crypto'
import { tenantNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { judgeRegistry } from '../judge.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import type { HttpAnswer } from '../world/http.ts'
import type { World } from '../world/world.ts'
import { credentialsOf, ownCredentials, ownPath, pathOfImage } from './registry.ts'
import { accessOf, askToken, challenge, fromHost } from './registry-client.ts'

type Bearer = { readonly authorization: string }

async function bearer(world: World, scope: string, basic: string | undefined): Promise<Bearer> {
  const { token } = await askToken(fromHost(world), world.targets.registry, scope, basic)
  if (token === undefined) throw new Error(`control: no token for ${scope}`)
  return { authorization: `Bearer ${token}` }
}

/** Begins an upload as its owner may. Resolves to its address. */
async function begin(world: World, repository: string, headers: Bearer): Promise<URL> {
  const url = `http://${world.targets.registry}/v2/${repository}/blobs/uploads/`
  const answer = await world.http.send(url, { method: 'POST', headers })
  const location = answer.headers?.['location']
  if (answer.status !== 202 || location === undefined) throw new Error(`control: no upload to ${repository}: ${answer.status}`)
  return new URL(location, url)
}

/**
 * The registry knows an upload only below the repository in which it began; the state in the address is signed for that
 * repository.
 */
function judgeUpload(answer: HttpAnswer): Verdict {
  if (/BLOB_UPLOAD_(UNKNOWN|INVALID)/.test(answer.text)) return stopped('registry', `${answer.status} ${answer.text}`)
  return judgeRegistry(answer)
}

async function uploadAttempts(world: World): Promise<readonly Attempt[]> {
  const own = `${ownPath(world)}/attack-upload`
  const foreign = `${world.targets.imagePrefix}${tenantNamespace}/attack-upload`
  const [mine] = (await ownCredentials(world)).filter(({ namespace }) => namespace.endsWith('-build'))
  const [theirs] = await credentialsOf(world, `${tenantNamespace}-build`)
  if (mine === undefined || theirs === undefined) throw new Error('control: the builds of a tenant have no registry credential')
  const [token, owner] = await Promise.all([
    bearer(world, `repository:${own}:pull,push`, mine.basic),
    bearer(world, `repository:${foreign}:pull,push`, theirs.basic),
  ])
  const digest = `sha256:${'0'.repeat(64)}`
  const finished = (url: URL): string => `${url.href}${url.search === '' ? '?' : '&'}digest=${digest}`
  /** `use` gets the address of an upload of acme that goes on, which its owner ends afterwards. */
  const withUpload = (name: string, use: (upload: URL) => Promise<HttpAnswer>): Attempt => ({
    name: `globex’s build: ${name}`,
    async run() {
      const upload = await begin(world, foreign, owner)
      try {
        return judgeUpload(await use(upload))
      } finally {
        await world.http.send(upload.href, { method: 'DELETE', headers: owner })
      }
    },
  })
  const here = (upload: URL): URL => new URL(upload.href.replace(`/v2/${foreign}/`, `/v2/${own}/`))
  const body = { method: 'PATCH', headers: { ...token, 'content-type': 'application/octet-stream' }, body: randomBytes(32) }
  return [
    withUpload('continues an upload of acme', upload => world.http.send(upload.href, body)),
    withUpload('finishes an upload of acme', upload => world.http.send(finished(upload), { method: 'PUT', headers: token })),
    withUpload('asks how far an upload of acme is', upload => world.http.send(upload.href, { headers: token })),
    withUpload('ends an upload of acme', upload => world.http.send(upload.href, { method: 'DELETE', headers: token })),
    withUpload('continues an upload of acme below its own path', upload => world.http.send(here(upload).href, body)),
    withUpload('finishes an upload of acme below its own path', upload =>
      world.http.send(finished(here(upload)), { method: 'PUT', headers: token }),
    ),
    withUpload('asks for an upload of acme below its own path', upload => world.http.send(here(upload).href, { headers: token })),
    withUpload('continues its own upload with the state of acme’s', async upload => {
      const started = await begin(world, own, token)
      const { pathname } = started
      started.search = upload.search
      const answer = await world.http.send(started.href, body)
      await world.http.send(`${started.origin}${pathname}`, { method: 'DELETE', headers: token })
      return answer
    }),
  ]
}

/** Distribution answers a mount that it refuses with an ordinary upload, which is ended at once. */
async function mount(world: World, query: string, headers: Bearer): Promise<Verdict> {
  const url = `http://${world.targets.registry}/v2/${ownPath(world)}/attack-upload/blobs/uploads/?${query}`
  const answer = await world.http.send(url, { method: 'POST', headers })
  if (answer.status === 201) return succeeded('201: mounted')
  const location = answer.headers?.['location']
  if (answer.status !== 202 || location === undefined) return judgeRegistry(answer)
  await world.http.send(new URL(location, url).href, { method: 'DELETE', headers })
  return stopped('registry', '202: no mount; an empty upload instead')
}

/** The layers of acme’s image, as its owner sees them. */
async function layersOf(world: World): Promise<readonly string[]> {
  const { repository, digest } = pathOfImage(world)
  const [theirs] = await credentialsOf(world, `${tenantNamespace}-build`)
  const headers = { ...(await bearer(world, `repository:${repository}:pull`, theirs?.basic)), accept: '*/*' }
  const { text } = await world.http.send(`http://${world.targets.registry}/v2/${repository}/manifests/${digest}`, { headers })
  const { layers = [], config } = JSON.parse(text) as { layers?: readonly { digest: string }[]; config?: { digest: string } }
  return [layers[0]?.digest, layers.at(-1)?.digest, config?.digest].filter(found => found !== undefined)
}

async function mountAttempts(world: World): Promise<readonly Attempt[]> {
  const own = `${ownPath(world)}/attack-upload`
  const { repository } = pathOfImage(world)
  const [mine] = (await ownCredentials(world)).filter(({ namespace }) => namespace.endsWith('-build'))
  const token = await bearer(world, `repository:${own}:pull,push`, mine?.basic)
  const both = await bearer(world, `repository:${own}:pull,push repository:${repository}:pull`, mine?.basic)
  return (await layersOf(world)).flatMap(layer =>
    [
      ['from acme', `mount=${layer}&from=${repository}`, token],
      ['from acme, asked for in the scope', `mount=${layer}&from=${repository}`, both],
      ['from anywhere', `mount=${layer}`, token],
      ['by a path through its own', `mount=${layer}&from=${own}/../../${tenantNamespace}/shop`, token],
      ['from both', `mount=${layer}&from=${own}&from=${repository}`, both],
    ].map(([what, query, headers]) => ({
      name: `globex’s build: mounts ${layer.slice(0, 19)} ${String(what)}`,
      run: () => mount(world, String(query), headers as Bearer),
    })),
  )
}

/** A token may open nothing of acme, however it was asked for. */
function judgeWidened(world: World, { status, text }: HttpAnswer): Verdict {
  if (status >= 400 && status < 500) return stopped('registry', `${status} ${text}`)
  if (status !== 200) return unclear(`${status} ${text}`)
  const { token = '' } = JSON.parse(text) as { token?: string }
  const access = token === '' ? [] : accessOf(token)
  const wide = access.filter(({ name }) => !name.startsWith(`${ownPath(world)}/`))
  return wide.length > 0 ? succeeded(JSON.stringify(wide)) : stopped('registry', `a token for ${JSON.stringify(access)}`)
}

async function scopeAttempts(world: World): Promise<readonly Attempt[]> {
  const { repository } = pathOfImage(world)
  const own = `repository:${ownPath(world)}/site:pull`
  const wide = `repository:${repository}:pull,push`
  const [mine] = (await ownCredentials(world)).filter(({ namespace }) => namespace.endsWith('-build'))
  const server = await challenge(fromHost(world), world.targets.registry)
  if (mine === undefined || server === undefined) throw new Error('control: the registry asks for no token')
  const basic = { authorization: `Basic ${Buffer.from(mine.basic).toString('base64')}` }
  const [user = '', password = ''] = mine.basic.split(/:(.*)/s)
  const queries: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
    [
      'scope twice',
      [
        ['scope', own],
        ['scope', wide],
      ],
    ],
    [
      'scope as a list',
      [
        ['scope', own],
        ['scope[]', wide],
      ],
    ],
    [
      'SCOPE in capitals',
      [
        ['scope', own],
        ['SCOPE', wide],
      ],
    ],
    [
      'another account',
      [
        ['scope', wide],
        ['account', 'acme'],
      ],
    ],
    [
      'an offline token',
      [
        ['scope', wide],
        ['offline_token', 'true'],
      ],
    ],
    [
      'another service',
      [
        ['scope', wide],
        ['service', 'other'],
      ],
    ],
  ]
  const form = (fields: Readonly<Record<string, string>>) => ({
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ service: server.service, client_id: 'x', scope: wide, ...fields }).toString(),
  })
  return [
    ...queries.map(
      ([name, query]): Attempt => ({
        name: `globex’s build: ${name}`,
        run: async () => {
          const search = new URLSearchParams([
            ['service', server.service],
            ...query.map(([key, value]) => [key, value] as [string, string]),
          ])
          return judgeWidened(world, await world.http.send(`${server.realm}?${search}`, { headers: basic }))
        },
      }),
    ),
    ...(['password', 'refresh_token'] as const).map(
      (grant_type): Attempt => ({
        name: `globex’s build: by POST with ${grant_type}`,
        run: async () =>
          judgeWidened(
            world,
            await world.http.send(server.realm, form({ grant_type, username: user, password, refresh_token: password })),
          ),
      }),
    ),
  ]
}

export const registryUploadAttacks: readonly Attack[] = [
  {
    name: 'registry/uploads',
    as: 'a thief of the credential of globex’s builds, who knows the address of an upload of acme',
    against: 'an upload of acme that goes on',
    tries: 'Continues, finishes, reads and ends it, at its own address and below globex’s path, and with its signed state.',
    expected: ['registry'],
    attempts: uploadAttempts,
  },
  {
    name: 'registry/mounts',
    as: 'a thief of the credential of globex’s builds, who knows the digests of acme’s layers',
    against: 'the layers and the configuration of acme’s image',
    tries: 'Mounts them into a repository of globex.',
    expected: ['registry'],
    attempts: mountAttempts,
  },
  {
    name: 'registry/widened-scopes',
    as: 'a thief of the credential of globex’s builds',
    against: 'the registry’s token server',
    tries: 'Scopes given twice or under other names, another account or service, offline tokens, and the form of OAuth 2.',
    expected: ['registry'],
    attempts: scopeAttempts,
  },
]
