// Fault 9 of the list in fault-page.ts: webhooks that arrive twice, late, out of order, not at all, or all at once. The broker
// is the product's; the followers that it wakes read the current heads of the branches and have one effect for each new head.
// Effects are counted, not calls.
import { createHmac, randomUUID } from 'node:crypto'
import { Agent, fetch as undiciFetch } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { install } from '../../dev/github/testing/people.ts'
import { createAppClient, pemSigner } from '../../src/github/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { redeliveryPoll } from '../../src/services/redelivery/poll.ts'
import { type BrokerEnvironment, startBrokerEnvironment } from '../fixtures/broker-fixture.ts'
import { isLong } from '../fixtures/form.ts'
import { quantile } from './fixtures/distribution.ts'
import { type FollowedBranches, followBranches } from './fixtures/followed-branches.ts'
import { recordOutcome } from './outcome.ts'

const fault = 9
const burst = isLong('faults') ? 10_000 : 2000
const branches = Array.from({ length: 20 }, (_, index) => `branch-${index}`)
const patience = { timeoutMilliseconds: limits.rollout }
const shop = 4001

let fixture: BrokerEnvironment
let followed: FollowedBranches
let agent: Agent
let installationId = 0
beforeAll(async () => {
  fixture = await startBrokerEnvironment()
  const { browser } = await fixture.signIn('olivia')
  await install(fixture.github, browser, fixture.organization.id, { repositoryIds: 'all' })
  await fixture.github.context.webhooks.idle()
  installationId = fixture.github.context.state.installations[0]?.id ?? 0
  const { host, kube, organization: account } = fixture
  await fixture.makeNamespace(account.login)
  followed = await followBranches({ kube, host, account, installationId, branches, namespace: account.login })
  agent = new Agent({ connections: 32, connect: { ca: fixture.certificateAuthority } })
})
afterAll(async () => {
  await agent?.close()
  await followed?.stop()
  await fixture?.stop()
})

type Delivery = { readonly event: string; readonly guid: string; readonly body: string }
const head = (number: number): string => number.toString(16).padStart(40, '0')
const repository = () => ({ id: shop, full_name: `${fixture.organization.login}/shop` })
const rest = () => ({ repository: repository(), installation: { id: installationId }, sender: { id: 1001 } })
const push = (branch: string, after: string): Delivery => ({
  event: 'push',
  guid: randomUUID(),
  body: JSON.stringify({ ref: `refs/heads/${branch}`, before: head(0), after, commits: [], ...rest() }),
})

async function deliver({ event, guid, body }: Delivery): Promise<number> {
  const signature = `sha256=${createHmac('sha256', fixture.github.app.webhookSecret).update(body).digest('hex')}`
  const answer = await undiciFetch(`${fixture.url}/webhooks/github`, {
    method: 'POST',
    dispatcher: agent,
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': guid,
      'x-hub-signature-256': signature,
    },
    body,
  })
  await answer.text()
  return answer.status
}

/** Waits until all stored deliveries are handled and the woken followers have reconciled. */
async function settled(): Promise<void> {
  await waitUntil('the branches are followed', async () => followed.behind().length === 0 || undefined, patience)
  let [before, since] = [-1, Date.now()]
  const handled = async (): Promise<number> => (await fixture.store.audit.head()).sequence
  await waitUntil(
    'the inbox is quiet',
    async () => {
      const now = await handled()
      if (now !== before) [before, since] = [now, Date.now()]
      return Date.now() - since > 400 || undefined
    },
    patience,
  )
}

async function effectsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = followed.effects.length
  await work()
  await settled()
  return followed.effects.slice(before)
}

test('a delivery that arrives six times is handled once and has one effect', async () => {
  followed.heads.set('branch-0', head(1))
  const one = push('branch-0', head(1))
  const statuses: number[] = []
  const effects = await effectsOf(async () => {
    statuses.push(...(await Promise.all(Array.from({ length: 5 }, () => deliver(one)))), await deliver(one))
  })
  const handled = (await fixture.store.audit.list({ action: 'webhook.received', limit: 1000 })).filter(
    entry => entry.object === `Webhook/${one.guid}`,
  )
  expect(statuses).toEqual(Array.from({ length: 6 }, () => 202))
  await recordOutcome({
    fault,
    case: 'one delivery six times',
    measure: 'times it is handled',
    value: handled.length,
    unit: 'times',
    atMost: 1,
    atLeast: 1,
  })
  await recordOutcome({
    fault,
    case: 'one delivery six times',
    measure: 'effects',
    value: effects.length,
    unit: 'effects',
    atMost: 1,
    atLeast: 1,
  })
})

test('a handled payload that arrives under ten other ids has no effect', async () => {
  const { body } = push('branch-0', head(1))
  const effects = await effectsOf(() =>
    Promise.all(Array.from({ length: 10 }, () => deliver({ event: 'push', guid: randomUUID(), body }))),
  )
  await recordOutcome({
    fault,
    case: 'a payload that was handled comes under 10 new ids',
    measure: 'effects',
    value: effects.length,
    unit: 'effects',
    atMost: 0,
  })
})

test('deliveries out of order cause no effect of an older head', async () => {
  followed.heads.set('branch-1', head(22))
  const effects = await effectsOf(async () => {
    await deliver(push('branch-1', head(22)))
    await deliver(push('branch-1', head(21)))
  })
  const wrong = effects.filter(effect => effect !== `branch-1@${head(22)}`).length
  await recordOutcome({
    fault,
    case: 'push B comes before push A',
    measure: 'effects of another head than the branch has',
    value: wrong,
    unit: 'effects',
    atMost: 0,
  })
  const installation = { id: installationId, account: { id: fixture.organization.id } }
  const installationEvent = (action: string): Delivery => ({
    event: 'installation',
    guid: randomUUID(),
    body: JSON.stringify({ action, installation, sender: { id: 1001 }, repositories: [] }),
  })
  const statuses = [await deliver(installationEvent('deleted')), await deliver(installationEvent('created'))]
  const after = await effectsOf(async () => deliver(push('branch-1', head(22))))
  await recordOutcome({
    fault,
    case: 'installation.deleted comes before installation.created',
    measure: 'deliveries not taken',
    value: statuses.filter(status => status !== 202).length,
    unit: 'deliveries',
    atMost: 0,
  })
  expect(after).toEqual([])
})

test('deliveries that failed are redelivered by one poll', async () => {
  const { context } = fixture.github
  const [app] = context.state.apps
  const url = app?.webhookUrl ?? ''
  const missed = branches.slice(2, 10)
  const endpoints = { host: fixture.host, web: fixture.github.url, api: fixture.github.apiUrl }
  const signers = [pemSigner(new SecretString(fixture.github.app.privateKeyPem))]
  const client = createAppClient({
    endpoints,
    appId: fixture.github.app.id,
    clientId: fixture.github.app.clientId,
    signers,
    log: silentLog,
    clock: systemClock,
  })
  const poll = redeliveryPoll({
    apps: { list: () => [{ apiVersion: '', kind: '', metadata: { name: 'sekisho' }, spec: {} }] as never },
    githubApps: { get: async () => ({ client, endpoints, appId: fixture.github.app.id }) },
    isLeader: () => true,
    clock: systemClock,
    log: silentLog,
  })
  await context.webhooks.idle()
  const needless = await poll()
  context.store.change(() => app && Object.assign(app, { webhookUrl: 'https://127.0.0.1:9/webhooks/github' }))
  for (const [index, branch] of missed.entries()) {
    followed.heads.set(branch, head(100 + index))
    const { installation: _, ...payload } = { ...rest(), ref: `refs/heads/${branch}`, before: head(0), after: head(100 + index) }
    context.webhooks.emit({ name: 'push', action: null, accountId: fixture.organization.id, repositoryId: shop, payload })
  }
  await context.webhooks.idle()
  context.store.change(() => app && Object.assign(app, { webhookUrl: url }))
  expect(followed.behind()).toEqual(missed)
  const since = performance.now()
  const requested = await poll()
  await context.webhooks.idle()
  await settled()
  const seconds = (performance.now() - since) / 1000
  const again = await poll()
  const named = `${missed.length} deliveries that GitHub could not make`
  await recordOutcome({
    fault,
    case: named,
    measure: 'repaired by one poll',
    value: (100 * (missed.length - followed.behind().length)) / missed.length,
    unit: '%',
    atLeast: 100,
  })
  await recordOutcome({
    fault,
    case: named,
    measure: 'deliveries asked for',
    value: requested,
    unit: 'deliveries',
    atMost: missed.length,
    atLeast: missed.length,
  })
  await recordOutcome({ fault, case: named, measure: 'from the poll to the last effect', value: seconds, unit: 's', atMost: 30 })
  await recordOutcome({
    fault,
    case: `${named}, polled again, and a poll with nothing missed`,
    measure: 'deliveries asked for',
    value: again + needless,
    unit: 'deliveries',
    atMost: 0,
  })
})

test('a delivery that is replayed three days later has no effect', async () => {
  const replayed = push('branch-0', head(1))
  const handledTimes = async (): Promise<number> =>
    (await fixture.store.audit.list({ action: 'webhook.received', limit: 1000 })).filter(
      entry => entry.object === `Webhook/${replayed.guid}`,
    ).length
  await deliver(replayed)
  await waitUntil('the delivery is handled', async () => (await handledTimes()) > 0 || undefined, patience)
  fixture.advance(3 * 24 * 3600)
  const effects = await effectsOf(() => deliver(replayed))
  await recordOutcome({
    fault,
    case: 'a delivery is replayed after 3 days',
    measure: 'times it is handled again',
    value: (await handledTimes()) - 1,
    unit: 'times',
    atMost: 0,
    atLeast: 0,
  })
  await recordOutcome({
    fault,
    case: 'a delivery is replayed after 3 days',
    measure: 'effects',
    value: effects.length,
    unit: 'effects',
    atMost: 0,
  })
})

test('a burst of pushes is acknowledged in time and has one effect for each head', async () => {
  const pushes = Array.from({ length: burst }, (_, index) => {
    const branch = branches[index % branches.length] ?? ''
    return { branch, after: head(10_000 + index) }
  })
  const waits: number[] = []
  const statuses = new Map<number, number>()
  const last = new Map(pushes.map(({ branch, after }) => [branch, after]))
  // The branches have their final heads before the first webhook arrives: GitHub is always ahead of its webhooks.
  for (const [branch, after] of last) followed.heads.set(branch, after)
  const since = performance.now()
  const effects = await effectsOf(async () => {
    const queue = pushes.values()
    await Promise.all(
      Array.from({ length: 64 }, async () => {
        for (const { branch, after } of queue) {
          const begun = performance.now()
          const status = await deliver(push(branch, after))
          waits.push(performance.now() - begun)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
      }),
    )
    const seconds = (performance.now() - since) / 1000
    await recordOutcome({
      fault,
      case: `a burst of ${burst} pushes to ${branches.length} branches`,
      measure: 'until all are acknowledged',
      value: seconds,
      unit: 's',
      atMost: (60 * burst) / 2000,
    })
  })
  const named = `a burst of ${burst} pushes to ${branches.length} branches`
  await recordOutcome({
    fault,
    case: named,
    measure: 'acknowledged within 10 s',
    value: (100 * waits.filter(wait => wait < 10_000).length * ((statuses.get(202) ?? 0) / burst)) / burst,
    unit: '%',
    atLeast: 100,
  })
  await recordOutcome({
    fault,
    case: named,
    measure: 'slowest acknowledgement',
    value: quantile(waits, 1),
    unit: 'ms',
    atMost: 10_000,
  })
  await recordOutcome({
    fault,
    case: named,
    measure: 'effects beyond one for each distinct head',
    value: effects.length - last.size,
    unit: 'effects',
    atMost: 0,
    atLeast: 0,
  })
  await recordOutcome({
    fault,
    case: named,
    measure: 'handled after the last was acknowledged',
    value: (performance.now() - since) / 1000,
    unit: 's',
    atMost: (60 * burst) / 2000,
  })
})
