// The registry: lists, pulls, pushes, deletes and mounts of what belongs to acme or the platform; by a client without a
// credential, by a pod of globex, and with the credentials that the platform made for globex itself, as if its build had stolen
// them.
import { randomBytes } from 'node:crypto'
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { judgeRegistry } from '../judge.ts'
import { stopped, succeeded, type Verdict } from '../verdict.ts'
import type { HttpAnswer } from '../world/http.ts'
import type { World } from '../world/world.ts'
import {
  askRegistry,
  type Basic,
  fromHost,
  fromPod,
  type RegistryRequest,
  type Sender,
  SilentRegistry,
} from './registry-client.ts'

type Named = RegistryRequest & { readonly name: string; readonly judge?: (answer: HttpAnswer) => Verdict }

const index = 'application/vnd.oci.image.index.v1+json'
const emptyIndex = (): string =>
  JSON.stringify({ schemaVersion: 2, mediaType: index, manifests: [], annotations: { attack: randomBytes(8).toString('hex') } })

/** The victim's image as the registry names it. */
export function pathOfImage(world: World): { readonly repository: string; readonly digest: string } {
  const [name = '', digest = ''] = world.targets.victim.image.split('@')
  return { repository: name.slice(world.targets.registry.length + 1), digest }
}

/** Below which globex's own images lie. */
export function ownPath({ targets }: World): string {
  return `${targets.imagePrefix}${neighbourNamespace}`
}

function reading(world: World): readonly Named[] {
  const { repository, digest } = pathOfImage(world)
  const pull = `repository:${repository}:pull`
  const escaped = `${ownPath(world)}%2f..%2f..%2f${repository}`
  return [
    { name: 'list all repositories', path: '_catalog?n=1000', scope: 'registry:catalog:*' },
    { name: 'list acme’s tags', path: `${repository}/tags/list`, scope: pull },
    { name: 'pull acme’s manifest', path: `${repository}/manifests/${digest}`, scope: pull },
    { name: 'ask whether acme’s manifest exists', method: 'HEAD', path: `${repository}/manifests/${digest}`, scope: pull },
    { name: 'pull a layer of acme', path: `${repository}/blobs/${digest}`, scope: pull },
    { name: 'list tags of the platform’s image', path: 'sekisho/sekisho/tags/list', scope: 'repository:sekisho/sekisho:pull' },
    { name: 'acme’s tags by an escaped path', path: `${escaped}/tags/list`, scope: `repository:${escaped}:pull` },
    {
      name: 'acme’s tags with a token for one’s own path',
      path: `${repository}/tags/list`,
      scope: `repository:${ownPath(world)}/site:pull`,
    },
  ]
}

function writing(world: World): readonly Named[] {
  const { imagePrefix } = world.targets
  const { repository, digest } = pathOfImage(world)
  const paths = [
    repository,
    'sekisho/sekisho',
    'cnb/builder',
    'cnb/run',
    'kpack/kpack',
    `${imagePrefix}${tenantNamespace}/new`,
    `${imagePrefix}${tenantNamespace}-inc/new`,
    `${imagePrefix}${neighbourNamespace}x/new`,
  ]
  const absent = `sha256:${'0'.repeat(64)}`
  return [
    ...paths.map(
      (path): Named => ({
        name: `begin an upload to ${path}`,
        method: 'POST',
        path: `${path}/blobs/uploads/`,
        scope: `repository:${path}:pull,push`,
      }),
    ),
    ...[repository, 'sekisho/sekisho', 'cnb/run'].map(
      (path): Named => ({
        name: `push a manifest to ${path}`,
        method: 'PUT',
        path: `${path}/manifests/attack`,
        scope: `repository:${path}:pull,push`,
        contentType: index,
        body: emptyIndex(),
      }),
    ),
    {
      name: 'overwrite acme’s build cache',
      method: 'PUT',
      path: `${repository}/manifests/cache-attack`,
      scope: `repository:${repository}:pull,push`,
      contentType: index,
      body: emptyIndex(),
    },
    {
      name: 'delete a manifest of acme',
      method: 'DELETE',
      path: `${repository}/manifests/${absent}`,
      scope: `repository:${repository}:delete`,
    },
    {
      name: 'delete a layer of acme',
      method: 'DELETE',
      path: `${repository}/blobs/${absent}`,
      scope: `repository:${repository}:delete,*`,
    },
    {
      name: 'mount acme’s layer into one’s own path',
      method: 'POST',
      path: `${ownPath(world)}/site/blobs/uploads/?mount=${digest}&from=${repository}`,
      scope: `repository:${ownPath(world)}/site:pull,push repository:${repository}:pull`,
      judge: judgeMount,
    },
  ]
}

/** Distribution answers a mount that it refuses with an ordinary upload. */
function judgeMount(answer: HttpAnswer): Verdict {
  if (answer.status === 202) return stopped('registry', '202: no mount; an empty upload instead')
  return answer.status === 201 ? succeeded('201: mounted') : judgeRegistry(answer)
}

/** Deletes, at the end of the run, a manifest that should not have been taken; ends an upload that should not have begun. */
async function undo(world: World, send: Sender, planned: Named, answer: HttpAnswer): Promise<void> {
  if (answer.status >= 300) return
  const { location, 'docker-content-digest': digest } = answer.headers ?? {}
  if (planned.method === 'PUT' && digest !== undefined)
    await world.journal.note({
      kind: 'manifest',
      path: `http://${world.targets.registry}/v2/${planned.path.replace(/[^/]+$/, digest)}`,
    })
  if (planned.method === 'POST' && location !== undefined)
    await send(new URL(location, `http://${world.targets.registry}`).href, { method: 'DELETE', headers: {} })
}

function attempts(world: World, who: string, send: Sender, basic: Basic): readonly Attempt[] {
  return [...reading(world), ...writing(world)].map(planned => ({
    name: `${who}: ${planned.name}`,
    async run() {
      try {
        const answer = await askRegistry(send, world.targets.registry, planned, basic)
        await undo(world, send, planned, answer)
        return (planned.judge ?? judgeRegistry)(answer)
      } catch (error) {
        if (error instanceof SilentRegistry) return stopped('network', error.message)
        throw error
      }
    },
  }))
}

type Credential = { readonly name: string; readonly namespace: string; readonly basic: string }

/** The registry credentials that the platform keeps in a namespace, as its administrator reads them. */
export async function credentialsOf(world: World, namespace: string): Promise<readonly Credential[]> {
  const answer = (await world.admin.call('GET', `/api/v1/namespaces/${namespace}/secrets`)) as {
    readonly items: readonly {
      readonly metadata: { readonly name: string }
      readonly type: string
      readonly data?: Record<string, string>
    }[]
  }
  return answer.items.flatMap(({ metadata, type, data }) => {
    if (type !== 'kubernetes.io/dockerconfigjson') return []
    const text = Buffer.from(data?.['.dockerconfigjson'] ?? '', 'base64').toString()
    const { auths } = JSON.parse(text) as { auths: Record<string, { auth?: string; username?: string; password?: string }> }
    return Object.values(auths).map(({ auth, username, password }) => ({
      name: metadata.name,
      namespace,
      basic: auth === undefined ? `${username}:${password}` : Buffer.from(auth, 'base64').toString(),
    }))
  })
}

/** All registry credentials that the platform made for globex; none where it makes none. */
export async function ownCredentials(world: World): Promise<readonly Credential[]> {
  await world.ownImage()
  const found = await Promise.all(
    [neighbourNamespace, `${neighbourNamespace}-build`].map(namespace => credentialsOf(world, namespace)),
  )
  return found.flat()
}

export const registryAttacks: readonly Attack[] = [
  {
    name: 'registry/as-stranger',
    as: 'a client without a credential, at the registry’s address',
    against: 'the images of acme and of the platform',
    tries: 'Lists, pulls, uploads, pushes, deletes and mounts.',
    expected: ['registry'],
    attempts: world => attempts(world, 'stranger', fromHost(world), undefined),
  },
  {
    name: 'registry/as-pod',
    as: 'a pod of globex',
    against: 'the images of acme and of the platform',
    tries: 'The same from inside of a pod.',
    expected: ['registry', 'network'],
    attempts: world => attempts(world, 'pod of globex', fromPod(world), undefined),
  },
  {
    name: 'registry/with-own-credentials',
    as: 'a thief of every registry credential that the platform made for globex',
    against: 'the images of acme and of the platform',
    tries: 'The same with the credentials of globex’s builds and pods.',
    expected: ['registry'],
    attempts: async world => {
      const own = await ownCredentials(world)
      // Without credentials of its own globex is a client without a credential: the same attempts show it.
      if (own.length === 0) return attempts(world, 'globex without a credential', fromHost(world), undefined)
      return own.flatMap(({ namespace, name, basic }) => attempts(world, `${namespace}/${name}`, fromHost(world), basic))
    },
  },
]
