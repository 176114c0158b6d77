// The pages of the audit log over a real store: who reads what, what a wrong name or time answers, and that what entries say is
// text.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { movableClock, openTestStore, type TestStore } from '../../../../test/fixtures/databases.ts'
import { startAuditPages } from './testing/audit-pages-server.ts'

const clock = movableClock()
const gary = 'github|github.com|42'
let store: TestStore
let pages: Awaited<ReturnType<typeof startAuditPages>>

const granted = (uid: string, namespace: string, reason = 'r') => ({
  ...({ action: 'grant.decided', actor: gary, object: `RepositoryGrant/${namespace}/read`, outcome: 'allowed', reason } as const),
  namespace,
  details: {
    ...{ grantUid: uid, person: gary, login: 'Gary', rule: 'read-contents', permissions: { contents: 'read' } },
    ...{ subjects: [{ kind: 'ServiceAccount', name: 'ci' }], repositoryIds: [4001] },
    repositories: [{ id: 4001, fullName: 'acme/shop' }],
  },
})

beforeAll(async () => {
  store = await openTestStore({ dataFolder: 'memory://' }, clock)
  const { audit } = store
  await audit.append(granted('u1', 'acme', '<script>alert(1)</script>'))
  await audit.append(granted('u2', 'globex'))
  clock.advance(600)
  const actor = 'system:serviceaccount:acme:ci'
  const details = { grantUid: 'u1', person: gary, login: 'Gary', repositoryIds: [4001], pod: { name: 'runner' } }
  const delivery = {
    action: 'token.delivered',
    actor,
    object: 'RepositoryGrant/acme/read',
    outcome: 'allowed',
    reason: 'r',
  } as const
  await audit.append({ ...delivery, namespace: 'acme', details })
  clock.advance(600)
  const ended = { action: 'grant.ended', actor: 'sekisho:test', outcome: 'allowed', reason: 'r' } as const
  await audit.append({
    ...ended,
    namespace: 'acme',
    object: 'RepositoryGrant/acme/read',
    details: { grantUid: 'u1', cause: 'deleted' },
  })
  clock.advance(60)
  pages = await startAuditPages(audit, clock)
})
afterAll(async () => {
  await pages?.close()
  await store?.close()
})

const open = (path: string, who?: string) => pages.open(path, who)

test('a person who is not signed in is sent to sign in and back; one who may read nothing learns nothing', async () => {
  for (const path of ['/audit', '/audit/1', '/access?of=person&name=gary', '/tokens?person=gary'])
    expect((await open(path)).location).toBe(`/login?return_to=${encodeURIComponent(path)}`)
  const paths = ['/audit', '/audit?namespace=acme', '/audit/1', '/audit/1?namespace=acme', '/access?name=acme/shop']
  for (const path of [...paths, '/tokens', '/tokens?namespace=acme']) expect((await open(path, 'nobody')).status, path).toBe(404)
})

test('a binding by hand counts in the namespace that its holder names, and for nobody else', async () => {
  for (const path of ['/audit?namespace=acme', '/audit/1?namespace=acme', '/access?namespace=acme', '/tokens?namespace=acme'])
    expect((await open(path, 'hand-acme')).status, path).toBe(200)
  for (const path of ['/audit', '/audit/1', '/tokens', '/tokens?namespace=globex', '/tokens?namespace=none']) {
    const { status, text } = await open(path, 'hand-acme')
    expect([path, status, text.includes('you have no role')]).toEqual([path, 403, true])
  }
  for (const who of ['hand-globex', 'halted-acme']) expect((await open('/tokens?namespace=acme', who)).status, who).toBe(403)
})

test('links among the pages keep the namespace, without which its reader may read nothing', async () => {
  const links = [
    ['/audit', ['/access?namespace=acme', '/tokens?namespace=acme', '/audit/1?namespace=acme']],
    ['/audit/1', ['/audit?namespace=acme&amp;before=2']],
    ['/access', ['/audit?namespace=acme', '/tokens?namespace=acme']],
    ['/tokens', ['/audit?namespace=acme', '/access?namespace=acme']],
  ] as const
  for (const [path, expected] of links) {
    const { text } = await open(`${path}?namespace=acme`, 'hand-acme')
    for (const link of expected) expect(text, path).toContain(`href="${link}"`)
  }
  const { text } = await open('/access?namespace=acme&of=person&name=gary', 'hand-acme')
  expect(text).toContain('href="/audit/1?namespace=acme"')
})

test('everything that an entry says is text', async () => {
  const list = await open('/audit', 'all')
  expect(list.status).toBe(200)
  expect(list.text).toContain('&lt;script&gt;alert(1)')
  expect(list.text).not.toContain('<script>alert')
  expect((await open('/audit/1', 'all')).text).toContain('&lt;script&gt;alert(1)')
})

test('a reader of one namespace reads nothing of another, by no field', async () => {
  const acme = await open('/audit?namespace=acme', 'acme')
  expect(acme.text).toContain('RepositoryGrant/acme/read')
  expect(acme.text).not.toContain('globex')
  expect((await open('/audit?namespace=globex', 'acme')).status).toBe(404)
  expect((await open('/audit/2?namespace=acme', 'acme')).status).toBe(404)
  expect((await open('/audit/1?namespace=acme', 'acme')).status).toBe(200)
  const could = await open('/access?of=repository&name=acme/shop&namespace=acme', 'acme')
  expect(could.text).not.toContain('globex')
  const workload = await open('/access?of=workload&name=globex/ci&namespace=acme', 'acme')
  expect([workload.status, workload.text.includes('the workload must be there')]).toEqual([400, true])
})

test('who could and who did, in a range and at a moment', async () => {
  const now = clock.now()
  const text = (minutesAgo: number) => new Date(now.getTime() - minutesAgo * 60_000).toISOString().slice(0, 16)
  const range = await open('/access?of=repository&name=ACME/Shop', 'all')
  expect(range.text).toContain('acme/read')
  expect(range.text).toContain('deleted')
  expect(range.text).toContain('runner')
  const before = await open(`/access?of=repository&name=4001&since=${text(16)}&until=${text(16)}`, 'all')
  expect(before.text).toContain('acme/read')
  expect(before.text).toContain('Nobody: no token was delivered.')
  const workload = await open(`/access?of=workload&name=acme/ci&since=${text(10)}&until=${text(0)}`, 'all')
  expect(workload.text).toContain('acme/read')
  expect(workload.text).toContain('acme/ci')
})

test('what nobody has, and times that are none, are said above the form with what was asked', async () => {
  for (const [path, problem] of [
    ['/access?of=repository&name=acme/shopp', 'did you mean acme/shop?'],
    ['/access?of=person&name=garry', 'did you mean Gary?'],
    ['/access?of=workload&name=acme', 'NAMESPACE/SERVICEACCOUNT'],
    ['/access?name=acme/shop&since=2026-01-02T00:00&until=2026-01-01T00:00', 'until must not be before since'],
    ['/audit?person=garry', 'did you mean Gary?'],
    ['/audit?since=2026-02-31T25:00', 'since: there is no such time'],
  ] as const) {
    const answer = await open(path, 'all')
    expect([answer.status, path, answer.text.includes(problem)]).toEqual([400, path, true])
    expect(answer.text).toContain('role="alert"')
  }
  expect((await open('/audit?before=x', 'all')).status).toBe(400)
})

test('pages lead to older entries until there are none', async () => {
  const minted = { action: 'token.minted', actor: gary, object: 'x', outcome: 'allowed', reason: 'r', details: {} } as const
  await Promise.all(Array.from({ length: 60 }, () => store.audit.append({ ...minted, namespace: 'acme' })))
  const first = await open('/audit?what=tokens&namespace=acme', 'all')
  const next =
    /href="(\/audit\?[^"]*before=\d+)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? expect.fail('no older entries')
  const second = await open(next, 'all')
  expect(second.text).toContain('token.delivered')
  expect(second.text).not.toContain('Older entries')
})
