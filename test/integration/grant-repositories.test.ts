// Repositories of one grant end one by one: on a real API server with the GitHub emulator, the token desk and the audit log. What
// the broker does with a webhook is played by the wake annotation.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRepository } from '../../dev/github/actions/create-repository.ts'
import { changeRepository } from '../../dev/github/actions/repository/change.ts'
import { deleteRepository } from '../../dev/github/actions/repository/delete.ts'
import { transferRepository } from '../../dev/github/actions/repository/transfer.ts'
import { accountOf } from '../../dev/github/state/github-state.ts'
import type { Repository } from '../../dev/github/state/repositories.ts'
import { type RepositoryGrant, repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { wakeAnnotation } from '../../src/api/names.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { readyReason } from '../fixtures/application-fixture.ts'
import { quiet } from '../fixtures/quiet.ts'
import {
  type DeskEnvironment,
  people,
  startDeskEnvironment,
  type TenantFixture,
  withTenant,
} from '../fixtures/token-desk-fixture.ts'

let environment: DeskEnvironment
beforeAll(async () => {
  environment = await startDeskEnvironment()
})
afterAll(() => environment?.stop())

function user(id: number) {
  const account = accountOf(environment.github.context.state, id)
  return account.kind === 'user' ? account : expect.fail(`${id} is no person`)
}

/** As olivia, who owns acme. */
function actionOn(repository: Repository) {
  return { context: environment.github.context, repository, sender: user(people.olivia) }
}

let made = 0

/** Public: everybody reads it, dave too. */
async function publicRepository(): Promise<Repository> {
  const { context } = environment.github
  const wanted = { name: `part-${++made}`, description: null, private: false, withReadme: false }
  return createRepository(context, accountOf(context.state, 2001), user(people.olivia), wanted)
}

type Granted = {
  readonly fixture: TenantFixture
  readonly kept: Repository
  readonly other: Repository
  /** After the controller was woken: the grant as soon as `until` holds. */
  readonly woken: (until: (grant: RepositoryGrant) => boolean) => Promise<RepositoryGrant>
  /** The repositories of a new token, and the token. */
  readonly token: () => Promise<{ readonly ids: readonly number[]; readonly secret: string }>
  readonly records: (action: 'grant.repository-changed' | 'grant.access-changed') => Promise<readonly (readonly unknown[])[]>
}

/** A grant for two repositories. */
async function granted(by: keyof typeof people = 'dave', changes: object = {}): Promise<Granted> {
  const fixture = await withTenant(environment)
  const { client, namespace } = fixture
  await fixture.applyTenant()
  await readyReason(client, tenant, { name: namespace }, 'NamespacesReady')
  await fixture.bind()
  const [kept, other] = [await publicRepository(), await publicRepository()]
  const repositories = [`acme/${kept.name}`, `acme/${other.name}`]
  const key = { namespace, name: 'two' }
  await fixture.requestGrant('two', by, { repositories, ...changes })
  await readyReason(client, repositoryGrant, key, 'Approved')
  let wakes = 0
  return {
    fixture,
    kept,
    other,
    async woken(until) {
      const annotations = { [wakeAnnotation]: `${++wakes}` }
      await client.mergePatch(repositoryGrant, key, { metadata: { annotations } }, { fieldManager: 'test' })
      return waitUntil('the grant says so', async () => {
        const grant = await client.get(repositoryGrant, key)
        return grant?.status?.observedWake === `${wakes}` && until(grant) ? grant : undefined
      })
    },
    async token() {
      const grant = (await client.get(repositoryGrant, key)) ?? expect.fail('no grant')
      const subject = { kind: 'ServiceAccount', namespace, name: 'runner', uid: 'runner-uid' }
      const { token, repositories: reached } = await fixture.desk.request({ grant, subject, actor: 'test' })
      return { ids: reached.map(({ id }) => id), secret: token.reveal() }
    },
    async records(action) {
      const entries = await environment.store.audit.list({ namespace, action, limit: 50 })
      return entries.toReversed().map(({ outcome, details }) => [outcome, details['repositoryIds'], details['cause']])
    },
  }
}

async function isDead({ fixture }: Granted, token: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` }
  return (await fetch(`${fixture.endpoints.api}/installation/repositories`, { headers })).status === 401
}

test.each([
  ['deleted', 'RepositoryNotFound', (one: Repository) => deleteRepository(actionOn(one))],
  [
    'transferred to another account',
    'RepositoryNotFound',
    async (one: Repository) => {
      const newOwner = accountOf(environment.github.context.state, people.olivia)
      transferRepository(actionOn(one), { newOwner, newName: undefined, teamIds: [] })
    },
  ],
  ['made private', 'RequesterLacksAccess', (one: Repository) => changeRepository(actionOn(one), { private: true })],
] as const)(
  'a repository that is %s ends for itself: the grant, new tokens and the log go on for the other',
  async (_how, reason, end) => {
    const grant = await granted()
    const { kept, other } = grant
    const before = await grant.token()
    expect(before.ids.toSorted()).toEqual([kept.id, other.id])
    await end(other)
    const { status } = await grant.woken(({ status: now }) => now?.endedRepositories !== undefined)
    expect(status).toMatchObject({
      decision: 'Approved',
      repositories: [{ id: kept.id }],
      endedRepositories: [{ id: other.id, name: `acme/part-${made}`, reason }],
    })
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    expect(ready).toMatchObject({ status: 'True', message: expect.stringContaining('Not for 1 of its 2 repositories') })
    await waitUntil('the token that reaches it is revoked', () => isDead(grant, before.secret))
    const after = await grant.token()
    expect(after.ids).toEqual([kept.id])
    await grant.woken(() => true)
    await quiet(grant.fixture)
    expect(await isDead(grant, after.secret)).toBe(false)
    expect(await grant.records('grant.repository-changed')).toEqual([['denied', [other.id], reason]])
  },
)

test('a repository that is public again is reached again, and a new name ends nothing', async () => {
  const grant = await granted()
  const { kept, other } = grant
  await changeRepository(actionOn(other), { private: true })
  await grant.woken(({ status }) => status?.endedRepositories !== undefined)
  await changeRepository(actionOn(other), { private: false })
  await changeRepository(actionOn(other), { name: `renamed-${other.name}` })
  const { status } = await grant.woken(({ status: now }) => now?.endedRepositories === undefined)
  expect(status?.repositories?.map(({ name }) => name)).toContain(`acme/${other.name}`)
  expect((await grant.token()).ids.toSorted()).toEqual([kept.id, other.id])
  expect(await grant.records('grant.repository-changed')).toEqual([
    ['denied', [other.id], 'RequesterLacksAccess'],
    ['allowed', [other.id], 'Approved'],
  ])
})

test('an archived repository is read as before', async () => {
  const grant = await granted()
  await changeRepository(actionOn(grant.other), { archived: true })
  const { status } = await grant.woken(() => true)
  expect([status?.repositories?.length, status?.endedRepositories]).toEqual([2, undefined])
})

test('an archived repository ends for a grant that writes, until it is unarchived', async () => {
  const writing = { permissions: { statuses: 'write' }, subjects: [{ kind: 'RemoteSync', name: 'shop' }] }
  const grant = await granted('olivia', writing)
  await changeRepository(actionOn(grant.other), { archived: true })
  const { status } = await grant.woken(({ status: now }) => now?.endedRepositories !== undefined)
  expect(status?.endedRepositories).toMatchObject([{ id: grant.other.id, reason: 'RepositoryArchived' }])
  await changeRepository(actionOn(grant.other), { archived: false })
  await grant.woken(({ status: now }) => now?.endedRepositories === undefined)
})

test('that a grant gives no access while its Installation is suspended is in the log, once, and that it gives it again', async () => {
  const grant = await granted()
  const { fixture, kept, other } = grant
  const key = { namespace: fixture.namespace, name: 'two' }
  const ids = [kept.id, other.id]
  await fixture.bind({ ready: 'False' })
  await readyReason(fixture.client, repositoryGrant, key, 'InstallationNotReady')
  await quiet(fixture)
  expect(await grant.records('grant.access-changed')).toEqual([['denied', ids, 'InstallationNotReady']])
  await fixture.bind()
  await readyReason(fixture.client, repositoryGrant, key, 'Approved')
  await quiet(fixture)
  expect(await grant.records('grant.access-changed')).toEqual([
    ['denied', ids, 'InstallationNotReady'],
    ['allowed', ids, 'Approved'],
  ])
})
