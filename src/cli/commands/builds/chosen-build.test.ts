// Which build is shown after a push: that of the pushed commit, also when GitHub's webhook comes late, never the one before.
import { expect, test } from 'vitest'
import type { Clock } from '../../../lib/clock.ts'
import type { ClusterContext } from '../cluster-context.ts'
import type { Checkout } from './checkout.ts'
import { type Choice, chosenBuild } from './chosen-build.ts'

const [old, pushed] = ['a'.repeat(40), 'b'.repeat(40)]
const before = { name: 'shop-aaaaaaaaaaaa', remoteSync: 'shop', commit: old, outcome: 'Succeeded' }
const after = { name: 'shop-bbbbbbbbbbbb', remoteSync: 'shop', commit: pushed }

type World = { readonly commit: string; readonly reason: string; readonly builds: readonly object[] }

/** The platform hears of the push after `heard` milliseconds, and begins its build two seconds later. */
function contextOf(heard: number) {
  const said: string[] = []
  let now = 0
  const clock: Clock = {
    now: () => new Date(now),
    sleep: async milliseconds => {
      now += milliseconds
    },
  }
  const world = (): World =>
    now < heard
      ? { commit: old, reason: 'Deployed', builds: [before] }
      : { commit: pushed, reason: 'Building', builds: now < heard + 2000 ? [before] : [after, before] }
  const ready = () => {
    const status = world().reason === 'Deployed' ? 'True' : 'False'
    return { type: 'Ready', status, reason: world().reason, message: 'm', observedGeneration: 1, lastTransitionTime: '' }
  }
  const sync = () => ({
    metadata: { name: 'shop', generation: 1 },
    spec: { repository: 'acme/shop', source: { branch: 'main' } },
    status: { commit: world().commit, conditions: [ready()] },
  })
  const context = {
    clock,
    terminal: { say: (text: string) => said.push(text), result: () => undefined },
    cluster: { namespace: 'acme', client: { get: async () => sync() } },
    api: async () => ({
      json: async (path: string) => (path.endsWith('/builds') ? { builds: world().builds, queued: [] } : world().builds[0]),
    }),
  } as unknown as ClusterContext
  return { context, said, waited: () => now }
}

const here: Checkout = {
  pushed: async () => ({ commit: pushed, branch: 'origin/main', unpushed: undefined }),
  isLater: async (later, earlier) => later === pushed && earlier === old,
}
const elsewhere: Checkout = { pushed: async () => undefined, isLater: async () => false }
const choice = (more: Partial<Choice>): Choice => ({
  argument: 'shop',
  commit: undefined,
  follow: true,
  checkout: elsewhere,
  ...more,
})

test('after a push from this checkout, and with --commit, the build of that commit is awaited', async () => {
  for (const more of [{ checkout: here }, { commit: 'bbbbbbb' }, { commit: pushed }]) {
    const { context, waited } = contextOf(3000)
    expect(await chosenBuild(context, choice(more))).toMatchObject({ name: after.name, commit: pushed })
    expect(waited()).toBeGreaterThan(3000)
  }
})

test('a webhook that is late is said once; one that never comes ends the wait', async () => {
  const late = contextOf(120_000)
  await chosenBuild(late.context, choice({ commit: pushed }))
  expect(late.said.filter(text => text.includes('nothing was heard of commit bbbbbbbbbbbb for 30 s'))).toHaveLength(1)
  const lost = contextOf(Number.POSITIVE_INFINITY)
  await expect(chosenBuild(lost.context, choice({ checkout: here }))).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('webhook may be late or lost'),
  })
  expect(lost.waited()).toBeLessThan(11 * 60_000)
})

test('without a push from here the newest build is shown; without --follow nothing is awaited', async () => {
  const { context, waited } = contextOf(Number.POSITIVE_INFINITY)
  expect(await chosenBuild(context, choice({}))).toMatchObject({ name: before.name })
  expect(await chosenBuild(context, choice({ checkout: here, follow: false }))).toMatchObject({ name: before.name })
  await expect(chosenBuild(context, choice({ commit: pushed, follow: false }))).rejects.toMatchObject({ code: 'not_found' })
  expect(waited()).toBe(0)
})

test('a commit that a newer one replaced before its build began is not awaited', async () => {
  const { context } = contextOf(0)
  const checkout: Checkout = { ...elsewhere, isLater: async () => true }
  await expect(chosenBuild(context, choice({ commit: 'c'.repeat(40), checkout }))).rejects.toMatchObject({
    message: expect.stringContaining('the newer commit bbbbbbbbbbbb replaced it'),
  })
})
