// `/tokens` over a real store: which tokens it shows to whom, what it links to, and that it says when it is cut.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { movableClock, openTestStore, type TestStore } from '../../../../test/fixtures/databases.ts'
import type { AuditRecord } from '../../../api/audit/audit-event.ts'
import { startAuditPages } from './testing/audit-pages-server.ts'

const clock = movableClock()
const gary = 'github|github.com|42'
const dave = 'github|github.com|43'
let store: TestStore
let pages: Awaited<ReturnType<typeof startAuditPages>>

type Token = { readonly token: string; readonly namespace: string; readonly repository: string; readonly id: number }
const people = { acme: { person: gary, login: 'Gary' }, globex: { person: dave, login: 'Dave' } }

function record({ token, namespace, repository, id }: Token, action: AuditRecord['action'], more: object = {}): AuditRecord {
  return {
    ...{ action, actor: `system:serviceaccount:${namespace}:ci`, namespace, outcome: 'allowed', reason: 'r' },
    object: `RepositoryGrant/${namespace}/read-${id}`,
    details: {
      ...{ token, grantUid: `u-${namespace}`, repositoryIds: [id], subject: { kind: 'ServiceAccount', name: `${namespace}-ci` } },
      ...people[namespace as keyof typeof people],
      repositories: [{ id, fullName: repository }],
      expiresAt: new Date(clock.now().getTime() + 3_600_000).toISOString(),
      ...more,
    },
  } as AuditRecord
}

const shop = { token: 'shop', namespace: 'acme', repository: 'acme/shop', id: 4001 }
const docs = { token: 'docs', namespace: 'acme', repository: 'acme/docs<b>', id: 4002 }
const ended = { token: 'ended', namespace: 'acme', repository: 'acme/ended', id: 4003 }
const other = { token: 'other', namespace: 'globex', repository: 'globex/site', id: 5001 }

beforeAll(async () => {
  store = await openTestStore({ dataFolder: 'memory://' }, clock)
  const { audit } = store
  await audit.append(record({ ...shop, token: 'old', repository: 'acme/expired', id: 4009 }, 'token.minted'))
  clock.advance(1800)
  for (const token of [shop, docs, ended, other]) await audit.append(record(token, 'token.minted'))
  clock.advance(600)
  await audit.append(record(shop, 'token.delivered', { pod: { name: 'runner' } }))
  await audit.append(record(shop, 'token.delivered', { pod: { name: 'runner' }, count: 4 }))
  await audit.append(record(ended, 'token.revoked', { cause: 'its grant ended' }))
  clock.advance(1260)
  pages = await startAuditPages(audit, clock)
})
afterAll(async () => {
  await pages?.close()
  await store?.close()
})

const shown = async (query = '', who = 'all') => (await pages.open(`/tokens${query}`, who)).text

test('what lives is shown with its grant, person, subject and times, and leads to the log', async () => {
  const text = await shown()
  for (const part of ['acme/read-4001', 'Gary (42)', '>acme/acme-ci<', 'globex/read-5001', '5 times'])
    expect(text).toContain(part)
  // Minted, then delivered twice.
  for (const path of ['/audit/2', '/audit/7', '/access?of=repository&amp;name=acme%2Fshop']) expect(text).toContain(`"${path}"`)
  for (const gone of ['acme/ended', 'acme/expired', '<b>']) expect(text).not.toContain(gone)
  expect(text).not.toContain('older ones')
  expect(text).not.toContain('More happened')
})

test('it is found by repository, person and namespace', async () => {
  const grants = async (query: string) => [...(await shown(query)).matchAll(/read-(\d+)/g)].map(([, id]) => Number(id))
  expect(await grants('')).toEqual([5001, 4002, 4001])
  expect(await grants('?repository=ACME/shop')).toEqual([4001])
  expect(await grants('?repository=4003')).toEqual([])
  expect(await grants('?person=gary&namespace=')).toEqual([4002, 4001])
  expect(await grants('?namespace=globex')).toEqual([5001])
  const { status, text } = await pages.open('/tokens?person=garry', 'all')
  expect([status, text.includes('did you mean Gary?')]).toEqual([400, true])
})

test('a reader of one namespace reads nothing of another, by no field', async () => {
  const asked = ['?namespace=acme', '?namespace=acme&repository=5001', '?namespace=acme&repository=globex/site']
  for (const query of [...asked, `?namespace=acme&person=${encodeURIComponent(dave)}`, '?namespace=acme&person=dave']) {
    const { text } = await pages.open(`/tokens${query}`, 'acme')
    for (const hidden of ['read-5001', 'globex-ci', 'Dave', '(43)']) expect(text, query).not.toContain(hidden)
    expect(text.includes('read-4001'), query).toBe(query === '?namespace=acme')
  }
  for (const query of ['', '?namespace=globex']) expect((await pages.open(`/tokens${query}`, 'acme')).status).toBe(404)
})

test('of many it shows the newest two hundred and says that there are others', async () => {
  const many = Array.from({ length: 203 }, (_, index) =>
    record({ ...other, token: `m${index}`, id: 6000 + index }, 'token.minted'),
  )
  await Promise.all(many.map(one => store.audit.append(one)))
  const text = await shown('?namespace=globex')
  expect(text.match(/role="rowheader"/g)).toHaveLength(200)
  expect(text).toContain('And 4 older ones')
  expect(await shown('?namespace=globex&repository=6001')).not.toContain('older ones')
})
