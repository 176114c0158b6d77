// At the end: looks for the canary and for tokens of GitHub in everything that can be read, and in all answers that the
// attackers got.
import { gunzipSync } from 'node:zlib'
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { credentialsOf } from '../inside/registry.ts'
import { askRegistry, askToken, fromHost } from '../inside/registry-client.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import type { Actor } from '../world/actors.ts'
import { platformNamespace } from '../world/targets.ts'
import type { World } from '../world/world.ts'

/** Looks into the places that `read` shows; a place that cannot be read makes the attempt unclear by its error. */
function scan(world: World, what: string, read: (see: (place: string, text: string) => void) => Promise<void>): Attempt {
  return {
    name: what,
    async run() {
      const before = world.watcher.sightings().length
      let [places, characters] = [0, 0]
      await read((place, text) => {
        places += 1
        characters += text.length
        world.watcher.see(`${what}: ${place}`, text)
      })
      return verdict(world, before, places, characters)
    },
  }
}

function verdict({ watcher }: World, before: number, places: number, characters: number): Verdict {
  const found = watcher.sightings().slice(before)
  if (found.length > 0) return succeeded(found.map(({ place, what }) => `${what} in ${place}`).join('; '))
  if (places === 0) return unclear('no place was read')
  return stopped('absent', `not in ${places} places, ${Math.ceil(characters / 1000)} thousand characters`)
}

type Resource = { readonly name: string; readonly verbs: readonly string[] }

/** Every collection that the API server can list, but Secrets themselves. */
async function collections({ admin }: World): Promise<readonly string[]> {
  const core = (await admin.call('GET', '/api/v1')) as { resources: readonly Resource[] }
  const { groups } = (await admin.call('GET', '/apis')) as { groups: readonly { preferredVersion: { groupVersion: string } }[] }
  const listed = (base: string, resources: readonly Resource[]): readonly string[] =>
    resources.filter(({ name, verbs }) => verbs.includes('list') && name !== 'secrets').map(({ name }) => `${base}/${name}`)
  const others = await Promise.all(
    groups.map(async ({ preferredVersion: { groupVersion } }) => {
      const { resources } = (await admin.call('GET', `/apis/${groupVersion}`)) as { resources: readonly Resource[] }
      return listed(`/apis/${groupVersion}`, resources)
    }),
  )
  return [...listed('/api/v1', core.resources), ...others.flat()]
}

type PodList = {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly namespace: string }
    readonly status: { readonly initContainerStatuses?: readonly Status[]; readonly containerStatuses?: readonly Status[] }
  }[]
}
type Status = { readonly name: string; readonly state: { readonly waiting?: unknown } }

async function logs({ admin }: World, see: (place: string, text: string) => void): Promise<void> {
  const { items } = (await admin.call('GET', '/api/v1/pods')) as PodList
  for (const { metadata, status } of items) {
    const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].filter(
      ({ state }) => state.waiting === undefined,
    )
    for (const { name } of containers) {
      const answer = await admin.request(
        'GET',
        `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/log?container=${name}&limitBytes=20000000`,
      )
      // A pod of this run may end in between.
      if (answer.status === 200) see(`${metadata.namespace}/${metadata.name}/${name}`, String(answer.body))
      else if (answer.status !== 404 && answer.status !== 400) throw new Error(`the log of ${metadata.name}: ${answer.status}`)
    }
  }
}

type Manifest = {
  readonly config: { readonly digest: string }
  readonly layers: readonly { readonly digest: string; readonly size: number }[]
}

const maxLayer = 60_000_000

/** Manifest, configuration and layers of an image that tenants have. */
async function image(
  world: World,
  reference: string,
  namespace: string,
  see: (place: string, text: string) => void,
): Promise<void> {
  const { registry } = world.targets
  const [name = '', digest = ''] = reference.split('@')
  const repository = name.slice(registry.length + 1)
  const [credential] = await credentialsOf(world, namespace)
  const scope = `repository:${repository}:pull`
  const answer = await askRegistry(
    fromHost(world),
    registry,
    { path: `${repository}/manifests/${digest}`, scope },
    credential?.basic,
  )
  if (answer.status !== 200) throw new Error(`the manifest of ${repository}: ${answer.status} ${answer.text}`)
  const manifest = JSON.parse(answer.text) as Manifest
  const { token } = await askToken(fromHost(world), registry, scope, credential?.basic)
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  see(`${repository} manifest`, answer.text)
  for (const { digest: blob, size } of [{ ...manifest.config, size: 0 }, ...manifest.layers]) {
    if (size > maxLayer) continue
    const bytes = await world.http.bytes(`http://${registry}/v2/${repository}/blobs/${blob}`, headers)
    const plain = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes
    see(`${repository} ${blob.slice(0, 19)}`, plain.toString('latin1'))
  }
}

async function metrics(world: World, see: (place: string, text: string) => void): Promise<void> {
  const platform = world.targets.platformPods.filter(
    ({ namespace, ports }) => namespace === platformNamespace && ports.includes(8090),
  )
  for (const { name, address } of platform)
    for (const path of ['/metrics', '/healthz', '/readyz']) {
      const { text } = await world.http.send(`http://${address}:8090${path}`)
      see(`${name}${path}`, text)
    }
}

/** Of one answer: entries of the audit log, builds of a tenant (newest first), bytes of a log. */
const [maxEntries, maxBuilds, maxLog] = [1000, 50, 20_000_000]

async function fromBroker(world: World, actor: Actor, path: string): Promise<string> {
  const headers = { accept: 'application/json', authorization: `Bearer ${await world.credentials(actor)}` }
  const { status, text } = await world.http.send(`${world.targets.issuer}${path}`, { headers, atMost: maxLog })
  if (status === 200) return text
  throw new Error(`${actor}: ${path}: ${status} ${text.slice(0, 200)}`)
}

/** The whole audit log as a platform admin reads it, from its newest entry to its first. */
async function auditLog(world: World, see: (place: string, text: string) => void): Promise<void> {
  let before: number | undefined
  do {
    const path = `/api/v1/audit?limit=${maxEntries}${before === undefined ? '' : `&before=${before}`}`
    const text = await fromBroker(world, 'ada', path)
    see(path, text)
    const { entries } = JSON.parse(text) as { readonly entries: readonly { readonly sequence: number }[] }
    before = entries.length < maxEntries ? undefined : entries.at(-1)?.sequence
  } while (before !== undefined)
}

/** The logs of the builds that the platform keeps of acme and globex, each read by somebody of the tenant. */
async function keptLogs(world: World, see: (place: string, text: string) => void): Promise<void> {
  for (const [actor, namespace] of [
    ['dave', tenantNamespace],
    ['gary', neighbourNamespace],
  ] as const) {
    const path = `/api/v1/tenants/${namespace}/builds`
    const list = await fromBroker(world, actor, `${path}?limit=${maxBuilds}`)
    see(path, list)
    for (const { name } of (JSON.parse(list) as { readonly builds: readonly { readonly name: string }[] }).builds)
      see(`${path}/${name}/log`, await fromBroker(world, actor, `${path}/${name}/log`))
  }
}

export const canaryAttacks: readonly Attack[] = [
  {
    name: 'canary/everywhere',
    alone: true,
    as: 'all attackers, and the administrator of the cluster',
    against: 'a canary in a Secret of the platform, one in an AppSecret of acme, and live tokens of GitHub',
    tries:
      'Finds them in objects, events, status, logs of pods and builds, the audit log, images, environments, metrics, or in any answer that an attacker got.',
    expected: ['absent'],
    attempts: world => [
      scan(world, 'objects of every kind but Secrets', async see => {
        for (const path of await collections(world)) see(path, JSON.stringify((await world.admin.request('GET', path)).body))
      }),
      scan(world, 'logs of all containers', see => logs(world, see)),
      scan(world, 'audit log', see => auditLog(world, see)),
      scan(world, 'kept logs of builds of acme and globex', see => keptLogs(world, see)),
      scan(world, 'image of acme', see => image(world, world.targets.victim.image, tenantNamespace, see)),
      scan(world, 'image of globex', async see => image(world, await world.ownImage(), neighbourNamespace, see)),
      scan(world, 'environment of a pod of globex', async see =>
        see('/proc', JSON.stringify(await world.probe({ kind: 'environment' }))),
      ),
      scan(world, 'metrics and health of the platform', see => metrics(world, see)),
      {
        name: 'every answer of this run',
        async run() {
          const { texts, characters } = world.watcher.counts()
          return verdict(world, 0, texts, characters)
        },
      },
    ],
  },
]
