// What 10,000 Installations cost at rest: every one is gathered, decided and written as the controller does it, for an hour of
// a clock that the test advances, and the requests of the App are counted at the emulator. The tokens of owner checks are
// doubles, because GitHub wants a second between mints; each counts as the request that it would be.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunningEmulator } from '../../dev/github/emulator.ts'
import type { Organization } from '../../dev/github/state/accounts.ts'
import { startStockedEmulator } from '../../dev/github/testing/stocked-emulator.ts'
import type { Installation } from '../../src/api/github/installation.ts'
import { decide } from '../../src/controllers/installation/decide.ts'
import { type GatherDeps, gather } from '../../src/controllers/installation/gather.ts'
import { createInstallationDirectory } from '../../src/controllers/installation/installation-directory.ts'
import { createOwnerCheckSchedule, ownerChecksPerHour } from '../../src/controllers/installation/owner-check-schedule.ts'
import { nextStatus } from '../../src/controllers/installation/status.ts'
import { createAppClient, type Fetch, pemSigner } from '../../src/github/index.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { createFakeClock } from '../../src/lib/testing/fake-clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'

const many = 10_000
const hour = 3_600_000
const clock = createFakeClock(Date.now())
const firstOrganization = 100_000
const idOf = (index: number): number => firstOrganization + index
const olivia = 1001

let github: RunningEmulator
beforeAll(async () => {
  github = await startStockedEmulator({ now: () => clock.now().getTime() })
  const [app] = github.context.state.apps
  if (!app) return expect.fail('the seed has no App')
  const createdAt = clock.now().toISOString()
  github.context.store.change(state => {
    for (let index = 0; index < many; index++) {
      const organization: Organization = {
        kind: 'organization',
        id: idOf(index),
        login: `org-${index}`,
        name: `Organisation ${index}`,
        basePermission: 'none',
        memberships: [{ userId: olivia, role: 'admin', state: 'active' }],
        createdAt,
      }
      state.organizations.push(organization)
      state.installations.push({
        id: idOf(index),
        appId: app.id,
        accountId: idOf(index),
        repositorySelection: 'all',
        repositoryIds: [],
        permissions: app.permissions,
        events: app.events,
        createdAt,
        updatedAt: createdAt,
        suspendedAt: null,
        suspendedById: null,
      })
    }
  })
})
afterAll(() => github?.stop())

const account = (index: number) => ({
  host: 'github.localhost',
  id: idOf(index),
  login: `org-${index}`,
  type: 'Organization' as const,
})

function bound(index: number, status?: Installation['status']): Installation {
  return {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'Installation',
    metadata: { name: 'github', namespace: `t${index}`, uid: `uid-${index}`, generation: 1 },
    spec: {
      app: 'default',
      installationId: idOf(index),
      account: account(index),
      boundBy: { id: olivia, login: 'olivia' },
      proof: { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00Z' },
      ceiling: { repositories: 'All', permissions: { contents: 'read' } },
    },
    ...(status === undefined ? {} : { status }),
  }
}

type Counts = { list: number; unchanged: number; single: number; mint: number }

/** A double of the routes that a members token reads; the login of an organisation is read from the emulator's state. */
const asReader: Fetch = async url => {
  const json = (status: number, body: unknown) =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
  if (url.endsWith(`/user/${olivia}`)) return json(200, { id: olivia, login: 'olivia' })
  const login = /\/orgs\/([^/]+)\/memberships\/olivia$/.exec(url)?.[1]
  const found = github.context.state.organizations.find(one => one.login === login)
  if (found === undefined) return json(404, { message: 'Not Found' })
  return json(200, { state: 'active', role: 'admin', organization: { id: found.id }, user: { id: olivia } })
}

function controller(): { readonly deps: GatherDeps; readonly counts: Counts } {
  const counts: Counts = { list: 0, unchanged: 0, single: 0, mint: 0 }
  const endpoints = { host: 'github.localhost', web: github.url, api: github.apiUrl }
  const counting: Fetch = async (url, init) => {
    const answer = await fetch(url, init)
    const { pathname } = new URL(url)
    counts[pathname.endsWith('/app/installations') ? 'list' : 'single']++
    if (answer.status === 304) counts.unchanged++
    return answer
  }
  const { id: appId, clientId, privateKeyPem } = github.app
  const signers = [pemSigner(new SecretString(privateKeyPem))]
  const real = createAppClient({ endpoints, appId, clientId, signers, log: silentLog, clock, fetch: counting })
  const client: typeof real = {
    ...real,
    async mintOrganizationReader() {
      counts.mint++
      return { token: new SecretString('t'), expiresAt: clock.now(), permissions: { members: 'read' }, repositoryIds: [] }
    },
    revoke: async () => {},
  }
  const nothing = async (): Promise<void> => {}
  const tokens = { intend: async () => 'x', recordMinted: nothing, markRevoked: nothing, abandon: nothing }
  const deps: GatherDeps = {
    githubApps: { get: async () => ({ client, endpoints, appId }) },
    directory: createInstallationDirectory({ clock }),
    poolOf: () => [],
    ownerChecks: createOwnerCheckSchedule({ clock, everyMilliseconds: hour, countOf: () => many }),
    tokens,
    audit: { append: nothing },
    log: silentLog,
    clock,
    fetch: asReader,
  }
  return { deps, counts }
}

async function reconcile(deps: GatherDeps, object: Installation): Promise<Installation['status']> {
  const facts = await gather(deps, object)
  return nextStatus(facts, decide(facts))
}

const reasonOf = (status: Installation['status']) => status?.conditions?.find(({ type }) => type === 'Verified')?.reason

test('10,000 Installations at rest: at most 1,000 requests of the App in an hour, and almost no writes', async () => {
  const { deps, counts } = controller()
  const first = (await reconcile(deps, bound(0))) ?? expect.fail('no status')
  expect(reasonOf(first)).toBe('Verified')
  // The owners were checked at different times, as they are after some days.
  const intervalMilliseconds = (many / ownerChecksPerHour) * hour
  const objects = Array.from({ length: many }, (_, index) => {
    const ownerCheckedAt = new Date(clock.now().getTime() - (intervalMilliseconds * index) / many).toISOString()
    return bound(index, { ...first, ownerCheckedAt })
  })
  Object.assign(counts, { list: 0, unchanged: 0, single: 0, mint: 0 })
  let writes = 0
  for (let minute = 0; minute < 60; minute++) {
    await clock.advance(60_000)
    for (let index = minute % 10; index < many; index += 10) {
      const object = objects[index] ?? expect.fail('no object')
      const status = await reconcile(deps, object)
      if (JSON.stringify(status) === JSON.stringify(object.status)) continue
      writes++
      objects[index] = { ...object, ...(status === undefined ? {} : { status }) }
    }
  }
  console.info(`10,000 Installations, one hour at rest: ${JSON.stringify({ ...counts, writes })}`)
  expect(new Set(objects.map(({ status }) => reasonOf(status)))).toEqual(new Set(['Verified']))
  expect(counts.list + counts.single + counts.mint).toBeLessThanOrEqual(1000)
  expect(counts.unchanged).toBeGreaterThanOrEqual(counts.list - 101)
  expect(counts.mint).toBeGreaterThan(ownerChecksPerHour / 2)
  expect(writes).toBeLessThanOrEqual(counts.mint)
})

test('what a list no longer has is asked for once, and then costs nothing', async () => {
  const { deps, counts } = controller()
  const verified = await reconcile(deps, bound(1))
  github.context.store.change(state => {
    state.installations = state.installations.filter(({ id }) => id !== idOf(1))
  })
  await clock.advance(hour)
  counts.single = 0
  const gone = await reconcile(deps, bound(1, verified))
  expect(reasonOf(gone)).toBe('InstallationNotFound')
  expect(counts.single).toBe(1)
  await reconcile(deps, bound(1, gone))
  expect(counts.single).toBe(1)
})

test('an organisation that was renamed after the list keeps its owner, also when somebody takes its login', async () => {
  const { deps } = controller()
  const verified = await reconcile(deps, bound(2))
  await deps.directory.look(await deps.githubApps.get('default'), idOf(2))
  github.context.store.change(state => {
    const organization = state.organizations.find(({ id }) => id === idOf(2))
    if (organization) organization.login = 'renamed'
    const other = state.organizations.find(({ id }) => id === idOf(3))
    if (other) other.login = 'org-2'
  })
  const due = { ...deps, ownerChecks: { isDue: () => true } }
  const status = await reconcile(due, bound(2, verified))
  expect(reasonOf(status)).toBe('Verified')
})

test('an owner who was lost stays lost until a check finds them again, and is not checked at each look', async () => {
  const { deps, counts } = controller()
  const membership = (role: 'admin' | 'member'): GatherDeps => ({
    ...deps,
    fetch: async (url, init) => {
      const answer = await asReader(url, init)
      if (!url.includes('/memberships/')) return answer
      const body: unknown = await answer.json()
      return new Response(JSON.stringify({ ...(body as object), role }), { headers: { 'content-type': 'application/json' } })
    },
  })
  const lost = await reconcile(membership('member'), bound(4))
  expect(reasonOf(lost)).toBe('BinderNoLongerOwner')
  const mints = counts.mint
  const still = await reconcile(membership('admin'), bound(4, lost))
  expect(still).toEqual(lost)
  expect(counts.mint).toBe(mints)
  const due = { ...membership('admin'), ownerChecks: { isDue: () => true } }
  expect(reasonOf(await reconcile(due, bound(4, still)))).toBe('Verified')
})
