// Two brokers on one PostgreSQL, behind a load balancer that sends each request where the test wants it: what a person began at
// one replica goes on at the other, bounds hold for both together, webhooks are stored and handled once, and one of them leads.
// PGlite has one writer, so it cannot have replicas.
import { createHmac, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BrowserPage } from '../../dev/github/testing/browser.ts'
import { startPostgres, type TestPostgres } from '../../dev/postgres/start-postgres.ts'
import { configMaps } from '../../src/api/builtin/index.ts'
import { installation } from '../../src/api/github/installation.ts'
import type { ObjectKey } from '../../src/api/resource.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { checkpointsName, problemAnnotation } from '../../src/broker/audit/checkpoint-map.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { verifyLog } from '../../src/store/audit/testing/verify-log.ts'
import { type BrokerEnvironment, bringOrganization, startBrokerEnvironment } from '../fixtures/broker-fixture.ts'
import type { BrokerReplica } from '../fixtures/broker-replica.ts'
import { type TestNamespace, testAdmin } from '../fixtures/harness.ts'

let postgres: TestPostgres
let environment: BrokerEnvironment
let one: BrokerReplica
let two: BrokerReplica
const namespace: TestNamespace['name'] = `replicas-${randomBytes(4).toString('hex')}`

/** The checkpoints of this test's brokers in its own namespace: other files' brokers write those of the platform's. */
function ownCheckpoints(client: KubeClient, admin: KubeClient): KubeClient {
  const isOurs = ({ name }: Partial<ObjectKey>): boolean => name === checkpointsName
  const own = <K extends Partial<ObjectKey>>(key: K): K => (isOurs(key) ? { ...key, namespace } : key)
  const by = (key: Partial<ObjectKey>): KubeClient => (isOurs(key) ? admin : client)
  return {
    ...client,
    get: (type, key) => by(key).get(type, own(key)),
    create: (type, object, options) =>
      by(object.metadata).create(type, { ...object, metadata: own(object.metadata) } as typeof object, options),
    apply: (type, object, options) => by(object.metadata).apply(type, { ...object, metadata: own(object.metadata) }, options),
    mergePatch: (type, key, patch, options) => by(key).mergePatch(type, own(key), patch, options),
  }
}

const other = (replica: BrokerReplica): BrokerReplica => (replica === one ? two : one)
const leader = (): Promise<BrokerReplica> =>
  waitUntil('a leader', async () => [one, two].find(replica => replica.isLeader()), { timeoutMilliseconds: limits.rollout })
const use = (replica: BrokerReplica): void => environment.front?.use(replica.port)
const recordsOf = async (action: Parameters<typeof one.store.audit.list>[0]['action'] & string) =>
  (await one.store.audit.list({ action, limit: 1000 })).length

type TokenAnswer = { readonly id_token?: string; readonly refresh_token?: string; readonly error?: string }
type Device = { readonly device_code: string; readonly user_code: string }

async function post<T>(replica: BrokerReplica, path: string, fields: Record<string, string>): Promise<T> {
  const answer = await environment.fetch(`${replica.url}${path}`, { method: 'POST', body: new URLSearchParams(fields) })
  return (await answer.json()) as T
}
const startDevice = (replica: BrokerReplica) =>
  post<Device>(replica, '/oidc/device-authorization', { client_id: 'kubernetes', scope: 'openid offline_access' })
const poll = (replica: BrokerReplica, { device_code }: Device) =>
  post<TokenAnswer>(replica, '/oidc/token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    client_id: 'kubernetes',
    device_code,
  })
const refresh = (replica: BrokerReplica, refresh_token = '') =>
  post<TokenAnswer>(replica, '/oidc/token', { grant_type: 'refresh_token', client_id: 'kubernetes', refresh_token })

/** Signs in and consents, with each page answered by the replica whose turn it is. */
async function approveDevice(login: string, device: Device): Promise<void> {
  use(one)
  const { browser } = await environment.signIn(login)
  use(two)
  const entry = await browser.open(`${environment.url}/device`)
  use(one)
  const confirmation = await entry.form('Continue').submit({ user_code: device.user_code })
  use(two)
  const consent = await confirmation.form('It is my computer').submit()
  use(one)
  expect((await consent.form(`Continue as ${login}`).submit()).text).toContain('Your computer is signed in')
}

async function tokensOf(login: string): Promise<TokenAnswer> {
  const device = await startDevice(one)
  await approveDevice(login, device)
  return poll(two, device)
}

/** The webhooks that the audit log says were handled; one that was handled twice is there twice. */
async function handled(replica: BrokerReplica = one): Promise<readonly string[]> {
  const found: string[] = []
  for (let after = 0; ; ) {
    const page = await replica.store.audit.list({ after, action: 'webhook.received', limit: 1000 })
    found.push(...page.map(({ object }) => object))
    const last = page.at(-1)
    if (last === undefined) return found
    after = last.sequence
  }
}

beforeAll(async () => {
  postgres = await startPostgres()
  const admin = await testAdmin()
  await admin.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  environment = await startBrokerEnvironment({
    replicas: { count: 2, location: { url: postgres.url('postgres') }, namespace },
    variables: { SEKISHO_AUDIT_CHECKPOINT_SECONDS: '5' },
    client: ownCheckpoints,
  })
  const [first, second] = environment.replicas
  if (first === undefined || second === undefined) throw new Error('two replicas are needed')
  one = first
  two = second
  await leader()
})
afterAll(async () => {
  await environment?.stop()
  await postgres?.stop()
  const admin = await testAdmin()
  await admin.call('DELETE', `/api/v1/namespaces/${namespace}`)
})

test('an onboarding that is confirmed at a replica that does not lead is carried out once, by the leader', async () => {
  const leading = await leader()
  use(other(leading))
  await bringOrganization(environment)
  const { login } = environment.organization
  await waitUntil('the Installation', () => environment.kube.get(installation, { namespace: login, name: 'github' }))
  await waitUntil('the audit record', async () => (await recordsOf('tenant.onboarded')) > 0)
  expect(await recordsOf('tenant.onboarded')).toBe(1)
  const tenants = (await environment.kube.list(tenant)).filter(({ spec }) => spec.account.login === login)
  expect(tenants).toHaveLength(1)
})

describe('a person', () => {
  test('signs in at one replica with the answer that the other one asked for, and signs out at both', async () => {
    use(one)
    const browser = environment.browser()
    await (await browser.open(`${environment.github.url}/login`)).form('Sign in as dave').submit()
    browser.stops.push(`${environment.url}/login/callback`)
    const asked: BrowserPage = await browser.open(`${environment.url}/login?return_to=%2F`)
    const callback = asked.text.includes('Authorize sekisho-dev') ? await asked.form('Authorize sekisho-dev').submit() : asked
    expect(callback.url).toContain('/login/callback?')
    browser.stops.length = 0
    use(two)
    const home = await browser.open(callback.url)
    expect(home.text).toContain('dave')
    const cookie = Object.entries(browser.cookies(environment.url))
      .map(pair => pair.join('='))
      .join('; ')
    const signedInAt = async (replica: BrokerReplica): Promise<boolean> => {
      const answer = await environment.fetch(`${replica.url}/onboard`, { headers: { cookie }, redirect: 'manual' })
      return answer.status === 200
    }
    expect([await signedInAt(one), await signedInAt(two)]).toEqual([true, true])
    await home.form('Sign out').submit()
    expect([await signedInAt(one), await signedInAt(two)]).toEqual([false, false])
  })

  test('signs in a computer across both replicas, which may poll both together as often as one', async () => {
    const device = await startDevice(one)
    expect((await poll(two, device)).error).toBe('authorization_pending')
    expect((await poll(one, device)).error).toBe('slow_down')
    expect((await poll(two, device)).error).toBe('slow_down')
    await approveDevice('dave', device)
    const answer = await waitUntil(
      'the tokens',
      async () => {
        const found = await poll(one, device)
        return found.id_token === undefined ? undefined : found
      },
      { everyMilliseconds: 5000 },
    )
    // The other replica knows the key by which it was signed.
    const headers = { authorization: `Bearer ${answer.id_token ?? ''}` }
    expect((await environment.fetch(`${two.url}/api/v1/whoami`, { headers })).status).not.toBe(401)
    const keysAt = async ({ url }: BrokerReplica) => (await environment.fetch(`${url}/oidc/jwks`)).json()
    expect(await keysAt(one)).toEqual(await keysAt(two))
  })

  test('tries ten codes at both replicas together, and no more', async () => {
    use(one)
    const { browser } = await environment.signIn('mia')
    const statuses: number[] = []
    for (let attempt = 0; attempt < 12; attempt++) {
      use(attempt % 2 === 0 ? two : one)
      const entry = await browser.open(`${environment.url}/device`)
      statuses.push((await entry.form('Continue').submit({ user_code: 'BCDF-GHJK' })).status)
    }
    expect(statuses.map(status => status === 429)).toEqual([...Array(10).fill(false), true, true])
  })

  test('a token that both replicas get gives one good successor, and its reuse after that ends the sign-in', async () => {
    const first = await tokensOf('dave')
    const lost = await refresh(one, first.refresh_token)
    const again = await refresh(two, first.refresh_token)
    expect(again.id_token).toBeDefined()
    expect((await refresh(two, lost.refresh_token)).error).toBe('invalid_grant')
    for (const replica of [one, two]) expect((await refresh(replica, again.refresh_token)).error).toBe('invalid_grant')

    const raced = await tokensOf('dave')
    const both = await Promise.all([refresh(one, raced.refresh_token), refresh(two, raced.refresh_token)])
    for (const { id_token, error } of both) expect(id_token ?? error).not.toBe('invalid_grant')
    const good = []
    for (const { refresh_token } of both)
      if (refresh_token !== undefined) good.push((await refresh(two, refresh_token)).id_token !== undefined)
    expect(good.filter(Boolean).length).toBeLessThanOrEqual(1)
  })
})

describe('webhooks', () => {
  const deliver = async (replica: BrokerReplica, deliveryId: string): Promise<string> => {
    const body = JSON.stringify({ zen: 'one', delivery: deliveryId })
    const signature = createHmac('sha256', environment.github.app.webhookSecret).update(body).digest('hex')
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'ping',
      'x-github-delivery': deliveryId,
      'x-github-hook-installation-target-id': String(environment.github.app.id),
      'x-hub-signature-256': `sha256=${signature}`,
    }
    const answer = await environment.fetch(`${replica.url}/webhooks/github`, { method: 'POST', body, headers })
    return `${answer.status} ${await answer.text()}`
  }

  test('1,000 of them, at both replicas, are stored once and handled once each', async () => {
    const before = await handled()
    const ids = Array.from({ length: 1000 }, () => randomBytes(16).toString('hex'))
    const deliveries = ids.flatMap((id, index) => {
      const replica = index % 2 === 0 ? one : two
      // GitHub sends every tenth again at the same time, to the other one.
      return index % 10 === 0 ? [() => deliver(replica, id), () => deliver(other(replica), id)] : [() => deliver(replica, id)]
    })
    const answers: string[] = []
    while (deliveries.length > 0) answers.push(...(await Promise.all(deliveries.splice(0, 100).map(send => send()))))
    const stored = answers.filter(answer => answer.includes('"stored"'))
    expect(answers.every(answer => answer.startsWith('202 '))).toBe(true)
    expect(stored).toHaveLength(1000)
    await waitUntil('all are handled', async () => (await handled()).length >= before.length + 1000)
    const now = await handled()
    expect(now).toHaveLength(before.length + 1000)
    expect(new Set(now).size).toBe(now.length)
  })
})

describe('the leader', () => {
  const checkpoints = async (): Promise<{ readonly sequences: readonly string[]; readonly problem: string | undefined }> => {
    const kept = await environment.kube.get(configMaps, { namespace, name: checkpointsName })
    const sequences = Object.keys(kept?.data ?? {}).filter(field => field.startsWith('entry-'))
    return { sequences, problem: kept?.metadata.annotations?.[problemAnnotation] }
  }
  const append = async (replica: BrokerReplica): Promise<number> => {
    const record = {
      action: 'webhook.received',
      actor: 'test',
      object: 'Webhook/x',
      outcome: 'allowed',
      reason: 'a test',
    } as const
    const { sequence } = await replica.store.audit.append({ ...record, details: {} })
    return sequence
  }
  const checkpointAfter = (sequence: number) =>
    waitUntil(`a checkpoint of entry ${sequence}`, async () =>
      (await checkpoints()).sequences.some(field => Number(field.slice(6)) >= sequence),
    )

  test('is followed when it lost the API server, and the checkpoints of both agree', async () => {
    const former = await leader()
    await checkpointAfter(await append(other(former)))
    former.cut()
    await waitUntil('the next leader', async () => other(former).isLeader() || undefined)
    expect(former.isLeader()).toBe(false)
    await append(former)
    await checkpointAfter(await append(other(former)))
    former.join()
    expect((await checkpoints()).problem).toBeUndefined()
    expect(await verifyLog(one.store.audit)).toMatchObject({ ok: true })
  })

  test('is followed when it is stopped; what it had stored and not handled is handled by the next', async () => {
    const former = await leader()
    const next = other(former)
    const deliveryId = randomBytes(16).toString('hex')
    // As after a crash between storing and handling: nobody is woken.
    const delivery = {
      deliveryId,
      event: 'ping',
      host: environment.host,
      receivedAt: new Date(),
      body: Buffer.from('{"zen":"one"}'),
    }
    await former.store.inbox.receive(delivery)
    await former.stop()
    await waitUntil('the next leader', async () => next.isLeader() || undefined)
    await waitUntil('it is handled', async () => (await handled(next)).includes(`Webhook/${deliveryId}`))
  })
})
