// The production form under load: each Deployment restarts, pods are killed and evicted one by one, leaders are lost. Meanwhile
// a tenant writes objects, people sign in, and webhooks come. Nothing that policies alone could judge is refused, no webhook is
// lost or handled twice, and a sign-in fails only when it was in flight as a pod ended.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Delivery } from '../../dev/github/webhooks/delivery.ts'
import { deploymentsOf, runningMode } from '../../dev/up/mode.ts'
import { platformPods } from '../../dev/up/platform-pods.ts'
import { platformNamespace } from '../../src/api/names.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { inTurn } from '../fixtures/in-turn.ts'
import { openPlatform, type Platform } from './platform.ts'
import { type Failure, type Load, signInsEveryMilliseconds, startLoad } from './platform-load.ts'

const components = ['broker', 'controllers', 'admission'] as const
type Component = (typeof components)[number]

/** A lease of 15 s, and the two seconds between two attempts of a candidate. */
const maxSecondsWithoutLeader = 17
/**
 * What a load balancer needs to notice that a pod ended: three periods of 2 s of the readiness probe
 * (deploy/production/broker.yaml).
 */
const noticeMilliseconds = 3 * 2000
/** Of one disturbance: the sign-in in flight, and those that begin before the load balancer notices. */
const maxExcusedEach = 1 + Math.ceil(noticeMilliseconds / signInsEveryMilliseconds)

let platform: Platform
let isProduction = false

beforeAll(async () => {
  platform = await openPlatform(['dave', 'ada'])
  isProduction = (await runningMode(platform.admin)) === 'production'
})
afterAll(() => platform?.admin.close())
beforeEach(({ skip }) => skip(!isProduction, 'the platform runs in the standalone form, which has one replica'))

async function rollout(component: Component): Promise<void> {
  const deployment = `deployment/sekisho-${component}`
  const done = await platform.asAdministrator(['rollout', 'status', deployment, '-n', platformNamespace, '--timeout=300s'])
  expect(done, `${component} rolls out`).toMatchObject({ code: 0 })
}

type Lease = {
  readonly spec: { readonly holderIdentity?: string; readonly renewTime?: string; readonly leaseTransitions?: number }
}

const leaseOf = async (component: Component): Promise<Lease> =>
  (await platform.admin.call(
    'GET',
    `/apis/coordination.k8s.io/v1/namespaces/${platformNamespace}/leases/sekisho-${component}`,
  )) as Lease

/** The pod of the leader; undefined while nobody leads. */
async function leaderOf(component: Component): Promise<string | undefined> {
  const { holderIdentity = '' } = (await leaseOf(component)).spec
  const pods = await platformPods(platform.admin, component)
  return pods.find(({ name }) => holderIdentity.startsWith(name))?.name
}

/** Without any notice to the process, as when its node dies. */
async function kill(pod: string): Promise<void> {
  const path = `/api/v1/namespaces/${platformNamespace}/pods/${pod}`
  await platform.admin.call('DELETE', path, { gracePeriodSeconds: 0 })
}

/** As `kubectl drain` does it: again and again while the budget does not allow it. */
async function evict(pod: string): Promise<void> {
  const path = `/api/v1/namespaces/${platformNamespace}/pods/${pod}/eviction`
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace: platformNamespace } }
  await waitUntil(
    `${pod} is evicted`,
    async () => {
      const { status } = await platform.admin.request('POST', path, eviction)
      return status === 201 || status === 404
    },
    { timeoutMilliseconds: limits.build },
  )
}

/** With fewer, nothing is said. */
const [leastWrites, leastSignIns] = [100, 4]

/** When a pod was disturbed. */
const disturbances: number[] = []
const disturbed = (): void => void disturbances.push(Date.now())

/** The load while `disturb` runs, and what is expected of it. */
async function underLoad(disturb: () => Promise<void>): Promise<void> {
  disturbances.length = 0
  const load = await startLoad(platform)
  let ended: Awaited<ReturnType<Load['end']>> | undefined
  try {
    await disturb()
    // Also with what has changed: a disturbance may be over before much was asked.
    await waitUntil(
      'enough was asked meanwhile',
      async () => {
        const soFar = load.soFar()
        if (soFar.writes < leastWrites || soFar.signIns < leastSignIns) throw new Error(JSON.stringify(soFar))
        return true
      },
      { timeoutMilliseconds: limits.build },
    )
  } finally {
    ended = await load.end()
  }
  const { writes, signIns, pushes } = ended
  expect(writes.failures, 'writes of the tenant that were refused or failed').toEqual([])
  expect(writes.done).toBeGreaterThanOrEqual(leastWrites)
  const excused = signIns.failures.filter(wasInFlight)
  console.info(`${excused.length} of ${signIns.done + signIns.failures.length} sign-ins failed in flight as a pod ended`)
  expect(
    signIns.failures.filter(failure => !wasInFlight(failure)),
    'sign-ins that failed',
  ).toEqual([])
  expect(excused.length, 'sign-ins that failed in flight as a pod ended').toBeLessThanOrEqual(
    maxExcusedEach * disturbances.length,
  )
  expect(signIns.done).toBeGreaterThanOrEqual(leastSignIns)
  expect(pushes.failures, 'git at GitHub, which was not disturbed').toEqual([])
  await expectAllHandledOnce(load.startedAt)
}

/** It began before the disturbance, or before a load balancer could notice that, and failed after it. */
function wasInFlight({ at, startedAt }: Failure): boolean {
  return disturbances.some(time => startedAt < time + noticeMilliseconds && time < at)
}

async function deliveriesSince(time: Date): Promise<readonly Delivery[]> {
  const text = await readFile(join(platform.stateFolder, 'github/deliveries.jsonl'), 'utf8')
  const all = text.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as Delivery]))
  return all.filter(({ deliveredAt, event }) => event === 'push' && Date.parse(deliveredAt) >= time.getTime())
}

/** Every webhook of GitHub was answered 202 in one of its attempts, and is in the audit log once. */
async function expectAllHandledOnce(since: Date): Promise<void> {
  // A webhook that was not answered waits for the next search for missed ones.
  await waitUntil(
    'every webhook has arrived and was handled',
    async () => {
      const guids = new Set((await deliveriesSince(since)).map(({ guid }) => guid))
      const arrived = new Set(
        (await deliveriesSince(since)).filter(({ statusCode }) => statusCode === 202).map(({ guid }) => guid),
      )
      const handled = await handledWebhooks()
      return guids.size > 0 && [...guids].every(guid => arrived.has(guid) && handled.includes(`Webhook/${guid}`))
    },
    { timeoutMilliseconds: limits.minutes },
  )
  const handled = await handledWebhooks()
  const twice = handled.filter((object, index) => handled.indexOf(object) !== index)
  expect(twice, 'webhooks that were handled twice').toEqual([])
}

async function handledWebhooks(): Promise<readonly string[]> {
  const listed = await platform.sekisho('ada', ['audit', 'list', '--action', 'webhook.received', '--limit', '1000', '-o', 'json'])
  expect(listed).toMatchObject({ code: 0 })
  return (JSON.parse(listed.output) as readonly { readonly object: string }[]).map(({ object }) => object)
}

describe('the production form under load', () => {
  test.each(inTurn('replicas', 'restarts', components, 1))('restarts the Deployment of the %s', async component => {
    await underLoad(async () => {
      const restarted = await platform.asAdministrator([
        'rollout',
        'restart',
        `deployment/sekisho-${component}`,
        '-n',
        platformNamespace,
      ])
      expect(restarted).toMatchObject({ code: 0 })
      disturbed()
      await rollout(component)
      disturbed()
    })
  })

  test.each(inTurn<Component>('replicas', 'leaders', ['broker', 'controllers'], 1))(
    'loses the leader of the %s, and the next one leads within 17 s',
    async component => {
      await underLoad(async () => {
        const former = await waitUntil('a leader', () => leaderOf(component), { timeoutMilliseconds: limits.rollout })
        disturbed()
        // The kubelet ends it a moment after the API server forgot the pod; until then it renews.
        let renewedAt = Date.now()
        await kill(former)
        await waitUntil(
          'the next leader',
          async () => {
            const next = await leaderOf(component)
            const { holderIdentity = '', renewTime } = (await leaseOf(component)).spec
            if (holderIdentity.startsWith(former) && renewTime) renewedAt = Math.max(renewedAt, Date.parse(renewTime))
            return next !== undefined && next !== former ? next : undefined
          },
          { timeoutMilliseconds: limits.rollout },
        )
        const seconds = (Date.now() - renewedAt) / 1000
        expect(seconds).toBeLessThan(maxSecondsWithoutLeader)
        await rollout(component)
      })
    },
  )

  test('loses a pod of admission', async () => {
    await underLoad(async () => {
      const [pod] = await platformPods(platform.admin, 'admission')
      disturbed()
      await kill(pod?.name ?? '')
      await rollout('admission')
    })
  })

  test('is drained pod by pod, as its budgets allow', async () => {
    await underLoad(async () => {
      for (const component of components) {
        for (const pod of await platformPods(platform.admin, component)) {
          disturbed()
          await evict(pod.name)
          await rollout(component)
        }
      }
    })
  })

  test('has two replicas of each part afterwards', async () => {
    for (const name of deploymentsOf.production) {
      const path = `/apis/apps/v1/namespaces/${platformNamespace}/deployments/${name}`
      await waitUntil(
        `${name} to have two replicas that are ready`,
        async () => {
          const { status } = (await platform.admin.call('GET', path)) as { readonly status: { readonly readyReplicas?: number } }
          return status.readyReplicas === 2
        },
        { timeoutMilliseconds: limits.rollout },
      )
    }
  })
})
