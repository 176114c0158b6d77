// Names that pass to somebody else: the controllers and real git against the GitHub emulator. A RemoteSync follows its repository by number, so
// whoever takes over the old name of an organisation or repository never gets a commit resolved, fetched or built.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createRepository } from '../../dev/github/actions/create-repository.ts'
import { renameAccount } from '../../dev/github/actions/people/rename-account.ts'
import { changeRepository } from '../../dev/github/actions/repository/change.ts'
import { type RunningEmulator, startEmulator } from '../../dev/github/emulator.ts'
import { organizationById, repositoryById, userByLogin } from '../../dev/github/state/github-state.ts'
import { cloneUrl, createGitClient } from '../../dev/github/testing/git-client.ts'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import { kpackBuilds } from '../../src/builds/kpack/resources.ts'
import { type ChartRenderer, createChartRenderer } from '../../src/charts/renderer.ts'
import { installDefinitions, installKinds, patience } from '../fixtures/application-fixture.ts'
import { installedFixture } from '../fixtures/github-fixture.ts'
import { waitUntil } from '../fixtures/harness.ts'
import { type Hub, kpackDefinitions, type RemoteSyncFixture, startRemoteSyncFixture } from '../fixtures/remote-sync-fixture.ts'

let renderer: ChartRenderer
beforeAll(async () => {
  await installKinds()
  await installDefinitions(kpackDefinitions)
  renderer = createChartRenderer()
  renderer.warmUp()
})
afterAll(() => renderer.stop())

let github: RunningEmulator
beforeEach(async () => {
  github = await startEmulator()
  return () => github.stop()
})

const shop = 4001
const person = (login: string) => userByLogin(github.context.state, login) ?? expect.fail(`no person ${login}`)
const acme = () => organizationById(github.context.state, 2001) ?? expect.fail('no organisation')
const repository = (id: number) => repositoryById(github.context.state, id) ?? expect.fail(`no repository ${id}`)

/** Pushes a commit to `main`; resolves to its id. */
async function push(login: string, fullName: string, text: string): Promise<string> {
  const git = await createGitClient()
  await git.run('clone', cloneUrl(github.url, fullName, github.personalTokens[login]), '.')
  const sha = await git.commit('page.txt', text, text)
  expect(await git.run('push', 'origin', 'HEAD:main')).toMatchObject({ ok: true })
  await git.remove()
  return sha
}

/** The token desk's answer keeps the name of the day of the grant. */
function hub(): Hub {
  const { client, installation, endpoints } = installedFixture(github)
  const permissions = { contents: 'read', pull_requests: 'read' } as const
  return {
    endpoints,
    repository: { id: shop, fullName: 'acme/shop' },
    mint: async () => (await client.mint({ installationId: installation.id, repositoryIds: [shop], permissions })).token,
  }
}

/** A RemoteSync of acme/shop whose first commit is being built. */
async function following(): Promise<RemoteSyncFixture> {
  const fixture = await startRemoteSyncFixture(renderer, { hub: hub() })
  const first = await push('dave', 'acme/shop', 'ours')
  await fixture.applyApplication()
  await fixture.applyRemoteSync()
  await fixture.approve()
  await fixture.buildOf(first)
  return fixture
}

/** Waits until the RemoteSync has asked GitHub because of this wake; resolves to its status. */
async function afterWake(fixture: RemoteSyncFixture) {
  const key = { namespace: fixture.namespace, name: 'shop' }
  await fixture.wake()
  const wake = (await fixture.client.get(remoteSync, key))?.metadata.annotations?.['sekisho.dev/wake']
  return waitUntil(
    'the wake is handled',
    async () => {
      const { status } = (await fixture.client.get(remoteSync, key)) ?? {}
      return status?.handledWake === wake ? status : undefined
    },
    patience,
  )
}

async function builtCommits({ client, namespace }: RemoteSyncFixture): Promise<readonly (string | undefined)[]> {
  return (await client.list(kpackBuilds, { namespace })).map(build => build.spec.source.git?.revision)
}

describe('a name that passes to somebody else', () => {
  test('an organisation is renamed and a stranger takes its login: the stranger’s commit is never built, the repository is followed', async () => {
    const fixture = await following()
    renameAccount(github.context, acme(), person('olivia'), 'acme-inc')
    const noah = person('noah')
    renameAccount(github.context, noah, noah, 'acme')
    await createRepository(github.context, noah, noah, { name: 'shop', description: null, private: false, withReadme: true })
    const evil = await push('noah', 'acme/shop', 'evil')
    expect((await afterWake(fixture)).commit).not.toBe(evil)

    const second = await push('dave', 'acme-inc/shop', 'ours again')
    const status = await afterWake(fixture)
    expect(status).toMatchObject({ commit: second, repository: { id: shop, name: 'acme-inc/shop' } })
    await fixture.buildOf(second)
    expect(await builtCommits(fixture)).not.toContain(evil)
  })

  test('inside one organisation, a new repository with the old name is never built', async () => {
    const fixture = await following()
    await changeRepository(
      { context: github.context, repository: repository(shop), sender: person('olivia') },
      { name: 'shop-old' },
    )
    const impostor = { name: 'shop', description: null, private: false, withReadme: true }
    await createRepository(github.context, acme(), person('olivia'), impostor)
    const evil = await push('olivia', 'acme/shop', 'evil')
    expect((await afterWake(fixture)).commit).not.toBe(evil)

    const second = await push('dave', 'acme/shop-old', 'ours again')
    expect(await afterWake(fixture)).toMatchObject({ commit: second, repository: { id: shop, name: 'acme/shop-old' } })
    await fixture.buildOf(second)
    expect(await builtCommits(fixture)).not.toContain(evil)
  })
})
