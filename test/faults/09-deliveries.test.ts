// Fault 9: webhooks that come twice, late, in another order, not at all, or all at once. The broker is whole; what it wakes looks at where
// branches are now and has one effect for each new head. Effects are counted, not calls.
import { createHmac, randomUUID } from 'node:crypto'
import { Agent, fetch as undiciFetch } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { install } from '../../dev/github/testing/people.ts'
import { createAppClient } from '../../src/github/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { createRedeliveryPoll } from '../../src/redelivery/poll.ts'
import { type BrokerSite, startBrokerSite } from '../fixtures/broker-fixture.ts'
import { waitUntil } from '../fixtures/harness.ts'
import { quantile } from './fixtures/distribution.ts'
import { type FollowedBranches, followBranches } from './fixtures/followed-branches.ts'
import { recordOutcome } from './outcome.ts'

const fault = 9
const burst = process.env['SEKISHO_LONG'] === '1' ? 10_000 : 2000
const branches = Array.from({ length: 20 }, (_, index) => `branch-${index}`)
const patience = { timeoutMilliseconds: 60_000 }
const shop = 4001

let site: BrokerSite
let followed: FollowedBranches
let agent: Agent
let installationId = 0
beforeAll(async () => {
  site = await startBrokerSite()
  const { browser } = await site.signIn('olivia')
  await install(site.github, browser, site.organization.id, { repositoryIds: 'all' })
  await site.github.context.webhooks.idle()
  installationId = site.github.context.state.installations[0]?.id ?? 0
  const { host, kube, organization: account } = site
  await site.makeNamespace(account.login)
  followed = await followBranches({ kube, host, account, installationId, branches, namespace: account.login })
  agent = new Agent({ connections: 32, connect: { ca: site.certificateAuthority } })
}, 120_000)
afterAll(async () => {
  await agent?.close()
  await followed?.stop()
  await site?.stop()
})

type Delivery = { readonly event: string; readonly guid: string; readonly body: string }
const head = (number: number): string => number.toString(16).padStart(40, '0')
const repository = () => ({ id: shop, full_name: `${site.organization.login}/shop` })
const rest = () => ({ repository: repository(), installation: { id: installationId }, sender: { id: 1001 } })
const push = (branch: string, after: string): Delivery => ({
  event: 'push',
  guid: randomUUID(),
  body: JSON.stringify({ ref: `refs/heads/${branch}`, before: head(0), after, commits: [], ...rest() }),
})

async function deliver({ event, guid, body }: Delivery): Promise<number> {
  const signature = `sha256=${createHmac('sha256', site.github.app.webhookSecret).update(body).digest('hex')}`
  const answer = await undiciFetch(`${site.url}/webhooks/github`, {
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

/** Waits until everything that was stored is handled and what it woke has looked. */
async function settled(): Promise<void> {
  await waitUntil('the branches are followed', async () => followed.behind().length === 0 || undefined, patience)
  let [before, since] = [-1, Date.now()]
  const handled = async (): Promise<number> => (await site.store.audit.head()).sequence
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

test('the same delivery five times at once, and once more', async () => {
  followed.heads.set('branch-0', head(1))
  const one = push('branch-0', head(1))
  const statuses: number[] = []
  const effects = await effectsOf(async () => {
    statuses.push(...(await Promise.all(Array.from({ length: 5 }, () => deliver(one)))), await deliver(one))
  })
  const handled = (await site.store.audit.list({ action: 'webhook.received', limit: 1000 })).filter(
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

test('the same payload under ten other ids', async () => {
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

test('out of order', async () => {
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
  const installation = { id: installationId, account: { id: site.organization.id } }
  const told = (action: string): Delivery => ({
    event: 'installation',
    guid: randomUUID(),
    body: JSON.stringify({ action, installation, sender: { id: 1001 }, repositories: [] }),
  })
  const statuses = [await deliver(told('deleted')), await deliver(told('created'))]
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

test('what GitHub could not deliver', async () => {
  const { context } = site.github
  const [app] = context.state.apps
  const url = app?.webhookUrl ?? ''
  const missed = branches.slice(2, 10)
  const endpoints = { host: site.host, web: site.github.url, api: site.github.apiUrl }
  const privateKeys = [new SecretString(site.github.app.privateKeyPem)]
  const client = createAppClient({
    endpoints,
    appId: site.github.app.id,
    clientId: site.github.app.clientId,
    privateKeys,
    log: silentLog,
    clock: systemClock,
  })
  const poll = createRedeliveryPoll({
    apps: { list: () => [{ apiVersion: '', kind: '', metadata: { name: 'sekisho' }, spec: {} }] as never },
    githubApps: { get: async () => ({ client, endpoints, appId: site.github.app.id }) },
    isLeader: () => true,
    clock: systemClock,
    log: silentLog,
  })
  await context.webhooks.idle()
  const needless = await poll.once()
  context.store.change(() => app && Object.assign(app, { webhookUrl: 'https://127.0.0.1:9/webhooks/github' }))
  for (const [index, branch] of missed.entries()) {
    followed.heads.set(branch, head(100 + index))
    const { installation: _, ...payload } = { ...rest(), ref: `refs/heads/${branch}`, before: head(0), after: head(100 + index) }
    context.webhooks.emit({ name: 'push', action: null, accountId: site.organization.id, repositoryId: shop, payload })
  }
  await context.webhooks.idle()
  context.store.change(() => app && Object.assign(app, { webhookUrl: url }))
  expect(followed.behind()).toEqual(missed)
  const since = performance.now()
  const asked = await poll.once()
  await context.webhooks.idle()
  await settled()
  const seconds = (performance.now() - since) / 1000
  const again = await poll.once()
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
    value: asked,
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
}, 90_000)

test('a replay three days later', async () => {
  const replayed = push('branch-0', head(1))
  const handledTimes = async (): Promise<number> =>
    (await site.store.audit.list({ action: 'webhook.received', limit: 1000 })).filter(
      entry => entry.object === `Webhook/${replayed.guid}`,
    ).length
  await deliver(replayed)
  await waitUntil('the delivery is handled', async () => (await handledTimes()) > 0 || undefined, patience)
  site.advance(3 * 24 * 3600)
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

test('a burst', async () => {
  const pushes = Array.from({ length: burst }, (_, index) => {
    const branch = branches[index % branches.length] ?? ''
    return { branch, after: head(10_000 + index) }
  })
  const waits: number[] = []
  const statuses = new Map<number, number>()
  const last = new Map(pushes.map(({ branch, after }) => [branch, after]))
  // The branches are where the last push of each left them before the first webhook comes: GitHub is always ahead of its webhooks.
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
}, 300_000)
