// Everything that attacks share: the actors with their credentials, the addresses, the pod of globex, what was made, and what
// was seen. Opened lazily: an attack that needs no pod starts none.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { type AdminClient, adminClientFor } from '../../cluster/control-plane/admin-client.ts'
import type { Progress } from '../../cluster/progress.ts'
import { adminKubeconfig, type ClusterSettings } from '../../cluster/settings.ts'
import { type DemoContext, neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import { prepareDemo } from '../../demo/run.ts'
import { deployNeighbour, joinNeighbour } from '../../demo/scenario/neighbour.ts'
import type { Probe, ProbeResult } from '../agent/probe.ts'
import { type Actor, type Credentials, createCredentials } from './actors.ts'
import { type AgentPod, agentManifest, agentName, connectAgent, newAgentKey } from './agent-pod.ts'
import { cleanUp } from './clean-up.ts'
import type { HttpAnswer } from './http.ts'
import { createHttp, type Http, type HttpRequest } from './http.ts'
import { type Journal, openJournal } from './journal.ts'
import { restoreLogins } from './logins.ts'
import { platformNamespace, readTargets, type Targets } from './targets.ts'
import { createWatcher, type Watcher, withoutTokens } from './watcher.ts'

export type ApiRequest = HttpRequest & { readonly json?: unknown; readonly contentType?: string }

export type World = {
  readonly settings: ClusterSettings
  readonly demo: DemoContext
  readonly targets: Targets
  readonly admin: AdminClient
  readonly http: Http
  readonly credentials: Credentials
  readonly journal: Journal
  readonly watcher: Watcher
  /** A request to the API server as this actor. `path` begins with a slash. */
  readonly api: (actor: Actor, method: string, path: string, options?: ApiRequest) => Promise<HttpAnswer>
  /** The image of globex's own application. */
  readonly ownImage: () => Promise<string>
  /**
   * What the pod of globex gets when it tries this. `ownTokens`: a token of GitHub in the answer is its own, by its own grant.
   */
  readonly probe: (probe: Probe, options?: { readonly ownTokens?: true }) => Promise<ProbeResult>
  /** Writes by the API are dry runs in globex, too: a layer is off that would stop them. */
  readonly onlyDryRuns: boolean
  readonly close: () => Promise<void>
}

export const applicationsPath = `/apis/apps.sekisho.dev/v1alpha1/namespaces/${neighbourNamespace}/applications`

/** Of a request that met a conflict. */
const maxRepeats = 3

/** Signs people in, joins globex, and removes what an earlier run may have left behind. */
export async function openWorld(settings: ClusterSettings, progress: Progress, onlyDryRuns = false): Promise<World> {
  const admin = await adminClientFor(adminKubeconfig(settings))
  const demo = await prepareDemo(settings, 'attack')
  const journal = await openJournal(join(settings.stateFolder, 'attack'))
  const watcher = createWatcher()
  const http = createHttp(demo.certificateAuthority, watcher.see)
  if (journal.all().length > 0) await progress.step('remove what an earlier run left', () => cleanUp(journal, admin, http))
  // A run that was killed may have left others.
  await restoreLogins({ demo, http })
  await progress.step('gary joins with globex', () => joinNeighbour(demo))
  await layCanary(admin, journal, watcher)
  const targets = await readTargets(admin, settings)
  const credentials = createCredentials(demo, admin)
  const sendOnce: World['api'] = async (actor, method, path, { json, contentType, headers, ...rest } = {}) => {
    const token = await credentials(actor)
    return http.send(`${targets.apiServer}${path}`, {
      ...rest,
      method,
      headers: {
        accept: 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { 'content-type': contentType ?? 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    })
  }
  const api: World['api'] = async (...asked) => {
    let answer = await sendOnce(...asked)
    for (let repeats = 0; repeats < maxRepeats && isQuotaConflict(answer); repeats++) answer = await sendOnce(...asked)
    return answer
  }
  await progress.step('signing in', () => rolesWork(api))
  await layAppSecret({ api, admin, journal, watcher })
  const ownImage = once(() => progress.step('gary deploys the site of globex', () => deployNeighbour(demo)))
  const agent = once(async () => {
    const image = await ownImage()
    return progress.step('the pod of globex', () => startAgent({ api, journal, admin, settings }, image))
  })
  return {
    settings,
    demo,
    targets,
    admin,
    http,
    credentials,
    journal,
    watcher,
    api,
    ownImage,
    onlyDryRuns,
    async probe(probe, { ownTokens } = {}) {
      const result = await (await agent()).probe(probe)
      const text = JSON.stringify(result)
      watcher.see(`pod of globex: ${probe.kind}`, ownTokens ? withoutTokens(text) : text)
      return result
    },
    async close() {
      await cleanUp(journal, admin, http)
      await Promise.all([admin.close(), http.close()])
    },
  }
}

/**
 * Another write counted in the same ResourceQuota at the same time, after the API server had tried it three times: nothing was
 * judged.
 */
function isQuotaConflict({ status, text }: HttpAnswer): boolean {
  return status === 409 && /resourcequotas .* the object has been modified/.test(text)
}

/** A Secret of the platform whose value no attacker may see while the attacks run; it is deleted at the end. */
async function layCanary(admin: AdminClient, journal: Journal, watcher: Watcher): Promise<void> {
  const canary = `canary-${randomBytes(24).toString('hex')}`
  const secrets = `/api/v1/namespaces/${platformNamespace}/secrets`
  await journal.note({ kind: 'object', path: `${secrets}/attack-canary` })
  await admin.call('POST', secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'attack-canary' },
    stringData: { canary },
  })
  watcher.watchFor(canary)
}

/** The AppSecret of acme that holds the second canary. */
export const appSecretCanary = { name: 'attack-canary', key: 'CANARY' } as const

/**
 * A value of acme that no answer may contain, not even to acme's own people, as a developer sets it; it is deleted at the end.
 */
async function layAppSecret({
  api,
  admin,
  journal,
  watcher,
}: Pick<World, 'api' | 'admin' | 'journal' | 'watcher'>): Promise<void> {
  const canary = `canary-${randomBytes(24).toString('hex')}`
  const collection = `/apis/apps.sekisho.dev/v1alpha1/namespaces/${tenantNamespace}/appsecrets`
  const { name, key } = appSecretCanary
  await journal.note({ kind: 'object', path: `${collection}/${name}` })
  watcher.watchFor(canary)
  const json = {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'AppSecret',
    metadata: { name },
    spec: { values: { [key]: canary } },
  }
  await waitUntil(
    'the platform takes the value',
    async () => {
      const { status, text } = await api('dave', 'POST', collection, { json })
      if (status === 201 || status === 409) return true
      throw new Error(`${status} ${text}`)
    },
    { timeoutMilliseconds: limits.build },
  )
  await waitUntil(
    'the value is where pods get it',
    async () => {
      const secret = await admin.request('GET', `/api/v1/namespaces/${tenantNamespace}/secrets/appsecret-${name}`)
      return secret.status === 200
    },
    { timeoutMilliseconds: limits.rollout },
  )
}

/**
 * Resolves when each actor can do what its role is for: then a refusal elsewhere is not just a credential that does not work.
 * An API server that was restarted asks the issuer for its keys every ten seconds, and knows nobody until it has them.
 */
export async function rolesWork(api: World['api']): Promise<void> {
  const work = (): Promise<true> => requireRoles(api).then(() => true)
  await waitUntil('each actor to do what its role is for', work, { timeoutMilliseconds: limits.rollout })
}

async function requireRoles(api: World['api']): Promise<void> {
  const roles = [
    ['gary', neighbourNamespace],
    ['dave', tenantNamespace],
    ['mia', tenantNamespace],
    ['olivia', tenantNamespace],
  ] as const
  await Promise.all(
    roles.map(async ([actor, namespace]) => {
      const answer = await api(actor, 'GET', `/apis/apps.sekisho.dev/v1alpha1/namespaces/${namespace}/applications`)
      if (answer.status !== 200)
        throw new Error(`control: ${actor} cannot list the Applications of ${namespace}: ${answer.status} ${answer.text}`)
    }),
  )
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

type AgentDeps = Pick<World, 'api' | 'journal' | 'admin' | 'settings'>

async function startAgent({ api, journal, admin, settings }: AgentDeps, image: string): Promise<AgentPod> {
  const key = newAgentKey()
  const path = `${applicationsPath}/${agentName}`
  await journal.note({ kind: 'object', path })
  const answer = await api('gary', 'POST', applicationsPath, { json: await agentManifest(image, key) })
  if (answer.status !== 201) throw new Error(`gary cannot deploy an application of his own: ${answer.status} ${answer.text}`)
  const url = await waitUntil(
    'the application of the pod to be available',
    async () => {
      const { status } = (await admin.call('GET', path)) as {
        status?: { url?: string; conditions?: readonly { type: string; status: string; reason: string; message: string }[] }
      }
      const ready = status?.conditions?.find(({ type }) => type === 'Ready')
      if (ready?.status === 'True') return status?.url
      throw new Error(`${ready?.reason}: ${ready?.message}`)
    },
    { timeoutMilliseconds: limits.rollout },
  )
  return connectAgent(url, settings.nodeAddress, key)
}
