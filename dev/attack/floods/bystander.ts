// What a flood costs a tenant that has nothing to do with it: acme pushes, signs in, asks for a token and uses kubectl all the
// while.
import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { messageOf } from '../../../src/lib/errors.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { tenantNamespace } from '../../demo/context.ts'
import { deployedSync, pushShop } from '../../demo/scenario/deploy.ts'
import { readLocalGitHub } from '../../up/github.ts'
import { corePath } from '../cluster/api-attempts.ts'
import { newBrowser } from '../outside/visitor.ts'
import { serviceAccountToken } from '../world/actors.ts'
import { platformAddress, platformAddresses } from '../world/targets.ts'
import type { World } from '../world/world.ts'
import { githubCalls } from './github-calls.ts'

/** Milliseconds of each kind of use; an empty list when it never worked. */
export type Uses = { readonly [use in 'push to URL' | 'sign-in' | 'token' | 'kubectl' | 'request' | 'new Service']: number[] }

export type Measured = {
  readonly uses: Uses
  /** Uses that failed, by what they were. */
  readonly failures: ReadonlyMap<string, number>
  /** By how much each process of the platform grew at most, by its address. */
  readonly memoryMegabytes: ReadonlyMap<string, number>
  readonly githubCalls: number
  readonly auditRows: number
}

async function timed(list: number[], use: () => Promise<unknown>): Promise<void> {
  const started = performance.now()
  await use()
  list.push(performance.now() - started)
}

const bystanderService = 'attack-bystander'
const acmeServices = corePath(tenantNamespace, 'services')

type PodMetadata = {
  readonly name: string
  readonly uid: string
  readonly creationTimestamp: string
  readonly deletionTimestamp?: string
}

type Pods = { readonly items: readonly { readonly metadata: PodMetadata; readonly status: { readonly phase?: string } }[] }

/**
 * The token desk as a workload of acme asks it, from this host. A push may replace the pod while it asks: then its successor
 * asks.
 */
async function askToken(world: World): Promise<void> {
  const pod = await newestPod(world)
  try {
    await askTokenAs(world, pod)
  } catch (error) {
    const successor = await newestPod(world)
    if (successor.uid === pod.uid) throw error
    await askTokenAs(world, successor)
  }
}

async function newestPod(world: World): Promise<PodMetadata> {
  const { items } = (await world.admin.call('GET', `/api/v1/namespaces/${tenantNamespace}/pods`)) as Pods
  const running = items.filter(({ metadata, status }) => status.phase === 'Running' && metadata.deletionTimestamp === undefined)
  const pod = running.toSorted((a, b) => b.metadata.creationTimestamp.localeCompare(a.metadata.creationTimestamp))[0]
  if (pod === undefined) throw new Error('acme runs no pod')
  return pod.metadata
}

async function askTokenAs({ admin, targets }: World, pod: PodMetadata): Promise<void> {
  const bearer = await serviceAccountToken(admin, { namespace: tenantNamespace, name: 'default', audiences: ['sekisho'], pod })
  const answer = await deskRequest(platformAddress(targets, 8444), bearer)
  if (answer !== 200) throw new Error(`the desk answers ${answer}`)
}

async function deskRequest(address: string, bearer: string): Promise<number> {
  // Its certificate names its Service; this host comes by the pod's address.
  const agent = new Agent({ connect: { rejectUnauthorized: false } })
  try {
    const answer = await request(`https://${address}:8444/v1/token`, {
      method: 'POST',
      dispatcher: agent,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify({ grant: 'demo-reader' }),
      headersTimeout: 30_000,
    })
    await answer.body.dump()
    return answer.statusCode
  } finally {
    await agent.close()
  }
}

/** Uses the platform as acme does until `seconds` have passed; every use at least once. */
export async function useAsBystander(world: World, seconds: number): Promise<Measured> {
  const uses: Uses = { 'push to URL': [], 'sign-in': [], token: [], kubectl: [], request: [], 'new Service': [] }
  const failures = new Map<string, number>()
  const [before, memoryBefore] = await Promise.all([gauges(world), memory(world)])
  const until = performance.now() + seconds * 1000
  const highest = new Map(memoryBefore)
  const repeat = async (
    name: keyof Uses,
    use: () => Promise<unknown>,
    between: number,
    clear?: () => Promise<unknown>,
  ): Promise<void> => {
    do {
      await timed(uses[name], use).catch((error: unknown) => {
        const what = `${name} (${messageOf(error)})`
        failures.set(what, (failures.get(what) ?? 0) + 1)
      })
      await clear?.()
      await pause(between)
    } while (performance.now() < until)
  }
  const watchMemory = async (): Promise<void> => {
    while (performance.now() < until) {
      // An answer that is late in a flood is one sample less.
      for (const [address, bytes] of await memory(world).catch(() => memoryBefore))
        highest.set(address, Math.max(bytes, highest.get(address) ?? 0))
      await pause(2000)
    }
  }
  await Promise.all([
    repeat('push to URL', () => push(world), 1000),
    repeat('sign-in', async () => (await newBrowser(world, 'olivia')).close(), 3000),
    repeat('token', () => askToken(world), 500),
    repeat('kubectl', () => kubectl(world), 250),
    repeat('request', () => requestShop(world), 250),
    repeat(
      'new Service',
      () => newService(world),
      2000,
      () => deleteService(world),
    ),
    watchMemory(),
  ])
  const after = await gauges(world)
  return {
    uses,
    failures,
    memoryMegabytes: growthOf(memoryBefore, highest),
    githubCalls: after.githubCalls - before.githubCalls,
    auditRows: after.auditRows - before.auditRows,
  }
}

/** A signed delivery, as GitHub sends it when the App is pinged. */
async function deliver(world: World): Promise<void> {
  const { webhookSecret, appId } = await readLocalGitHub(world.settings)
  const body = JSON.stringify({
    zen: 'Keep it logically awesome.',
    hook_id: 1,
    hook: { type: 'App', id: 1, app_id: appId, active: true },
  })
  const answer = await world.http.send(`${world.targets.issuer}/webhooks/github`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'ping',
      'x-github-delivery': randomUUID(),
      'x-github-hook-installation-target-type': 'integration',
      'x-github-hook-installation-target-id': String(appId),
      'x-hub-signature-256': `sha256=${createHmac('sha256', webhookSecret).update(body).digest('hex')}`,
    },
  })
  if (answer.status >= 300) throw new Error(`a signed delivery is refused: ${answer.status} ${answer.text}`)
}

/** Every quick use once; what failed, or undefined. */
export async function useOnce(world: World): Promise<string | undefined> {
  const tries: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['GitHub’s webhook', () => deliver(world)],
    ['sign-in', async () => (await newBrowser(world, 'olivia')).close()],
    ['token', () => askToken(world)],
    ['kubectl', () => kubectl(world)],
  ]
  for (const [name, use] of tries) {
    const failure = await use().then(
      () => undefined,
      (error: unknown) => `${name}: ${messageOf(error)}`,
    )
    if (failure !== undefined) return failure
  }
  return undefined
}

async function push(world: World): Promise<void> {
  const { demo } = world
  await pushShop(demo, demo.people.dave, `Pushed during a flood, ${new Date().toISOString()}`)
  await deployedSync(demo, demo.people.dave, 120)
}

async function kubectl(world: World): Promise<void> {
  const answer = await world.api('dave', 'GET', `/api/v1/namespaces/${tenantNamespace}/pods`)
  if (answer.status !== 200) throw new Error(`kubectl: ${answer.status}`)
}

/** The running server of acme, through the ingress of this host. */
async function requestShop({ settings }: World): Promise<void> {
  const host = `shop.${tenantNamespace}.localhost:${settings.ingressPort}`
  const status = await statusOf(`http://127.0.0.1:${settings.ingressPort}/version`, 5000, { host })
  if (status !== 200) throw new Error(`shop answers ${status}`)
}

/** By a new connection each time: a kept one still leads to whoever answered before a new Service had the address. */
async function statusOf(url: string, milliseconds: number, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const dispatcher = new Agent({ connect: { timeout: milliseconds } })
  try {
    const { statusCode, body } = await request(url, { dispatcher, headers, signal: AbortSignal.timeout(milliseconds) })
    await body.dump()
    return statusCode
  } finally {
    await dispatcher.destroy()
  }
}

/** A Service of acme, from its creation until this node reaches a pod by its address. */
async function newService(world: World): Promise<void> {
  const json = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: bystanderService },
    spec: {
      selector: { 'sekisho.dev/application': 'shop', 'sekisho.dev/process': 'web' },
      ports: [{ port: 80, targetPort: 'http' }],
    },
  }
  const { status, text } = await world.api('dave', 'POST', acmeServices, { json })
  if (status !== 201) throw new Error(`dave cannot make a Service: ${status} ${text}`)
  const { spec } = JSON.parse(text) as { readonly spec: { readonly clusterIP: string } }
  await waitUntil('the new Service to answer', async () => (await statusOf(`http://${spec.clusterIP}/version`, 500)) === 200, {
    timeoutMilliseconds: limits.rollout,
  })
}

function deleteService(world: World): Promise<unknown> {
  return world.api('dave', 'DELETE', `${acmeServices}/${bystanderService}`)
}

/** Calls that GitHub counted, rows of the audit log. */
async function gauges(world: World) {
  return { githubCalls: await githubCalls(world), auditRows: await auditRows(world) }
}

/** Bytes of each process of the platform, by its address. */
async function memory(world: World): Promise<ReadonlyMap<string, number>> {
  const addresses = platformAddresses(world.targets, 8090)
  return new Map(await Promise.all(addresses.map(async address => [address, await residentMemory(world, address)] as const)))
}

/** Each process beside itself, in megabytes: a small one that grows must not hide behind a large one. */
export function growthOf(before: ReadonlyMap<string, number>, highest: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return new Map([...before].map(([address, bytes]) => [address, ((highest.get(address) ?? bytes) - bytes) / 1e6]))
}

async function residentMemory(world: World, address: string): Promise<number> {
  const { text } = await world.http.send(`http://${address}:8090/metrics`)
  const bytes = Number(/^process_resident_memory_bytes(?:\{[^}]*\})? (\S+)/m.exec(text)?.[1])
  if (!Number.isFinite(bytes)) throw new Error(`the metrics of ${address} do not say how much memory it uses`)
  return bytes
}

/** The sequence number of the newest row. */
async function auditRows(world: World): Promise<number> {
  const headers = { authorization: `Bearer ${await world.credentials('ada')}`, accept: 'application/json' }
  const answer = await world.http.send(`${world.targets.issuer}/api/v1/audit/head`, { headers })
  if (answer.status !== 200) throw new Error(`the head of the audit log: ${answer.status} ${answer.text}`)
  return (JSON.parse(answer.text) as { sequence: number }).sequence
}
