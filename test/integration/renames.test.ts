// Repositories by number: the controllers and real git against the GitHub emulator. Whoever takes over the old name of an
// organisation or a repository, or pushes to a fork, never gets a commit resolved, fetched or built.
import { describe, expect, test } from 'vitest'
import { createRepository } from '../../dev/github/actions/create-repository.ts'
import { renameAccount } from '../../dev/github/actions/people/rename-account.ts'
import { setPullRequestState } from '../../dev/github/actions/pull-requests/pull-requests.ts'
import { changeRepository } from '../../dev/github/actions/repository/change.ts'
import { renameBranch } from '../../dev/github/actions/repository/rename-branch.ts'
import { organizationById } from '../../dev/github/state/github-state.ts'
import { cloneUrl, createGitClient } from '../../dev/github/testing/git-client.ts'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { kpackBuilds } from '../../src/services/builds/kpack/resources.ts'
import { readyReason } from '../fixtures/application-fixture.ts'
import { clock, github, renderer, useEmulatedGitHub } from '../fixtures/emulated-github.ts'
import { actsOn, shop } from '../fixtures/pull-requests.ts'
import { type RemoteSyncFixture, startRemoteSyncFixture, succeeded } from '../fixtures/remote-sync-fixture.ts'

useEmulatedGitHub()

const { person, actionOf, open, fork, hub } = actsOn(
  () => github,
  () => clock,
)
const acme = () => organizationById(github.context.state, 2001) ?? expect.fail('no organisation')

/** Pushes a commit on top of `main`, to `main` unless told otherwise; resolves to its id. */
async function push(login: string, fullName: string, text: string, branch = 'main'): Promise<string> {
  const git = await createGitClient()
  await git.run('clone', cloneUrl(github.url, fullName, github.personalTokens[login]), '.')
  const sha = await git.commit('page.txt', text, text)
  expect(await git.run('push', 'origin', `HEAD:${branch}`)).toMatchObject({ ok: true })
  await git.remove()
  return sha
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
  return waitUntil('the wake is handled', async () => {
    const { status } = (await fixture.client.get(remoteSync, key)) ?? {}
    return status?.handledWake === wake ? status : undefined
  })
}

async function builtCommits({ client, namespace }: RemoteSyncFixture): Promise<readonly (string | undefined)[]> {
  return (await client.list(kpackBuilds, { namespace })).map(build => build.spec.source.git?.revision)
}

async function reasonOf(fixture: RemoteSyncFixture): Promise<string | undefined> {
  return findCondition((await afterWake(fixture)).conditions, 'Ready')?.reason
}

describe('commits that strangers pushed', () => {
  /** A public repository, as strangers can fork it, with a fork of noah and a pull request of it. */
  async function forked() {
    await fork()
    const evil = await push('noah', 'noah/shop', 'evil')
    const { number } = await open('noah', 'noah:main')
    return { evil, number }
  }

  test('the head of a fork is not built; a pull request of the repository itself is, until it is closed', async () => {
    const { evil, number } = await forked()
    const fixture = await startRemoteSyncFixture(renderer, { hub: hub() })
    await fixture.applyApplication()
    await fixture.applyRemoteSync({ source: { pullRequest: number } })
    await fixture.approve()
    await readyReason(fixture.client, remoteSync, { namespace: fixture.namespace, name: 'shop' }, 'ApprovalMissing')

    const own = await push('dave', 'acme/shop', 'ours', 'feature')
    const pull = await open('dave', 'feature')
    await fixture.applyRemoteSync({ source: { pullRequest: pull.number } })
    await fixture.buildOf(own)
    await setPullRequestState(actionOf('dave'), pull, 'closed')
    expect(await reasonOf(fixture)).toBe('PullRequestClosed')
    expect(await builtCommits(fixture)).not.toContain(evil)
  })

  test('a commit of a fork, which GitHub serves through the repository, is not built; a commit of a branch is', async () => {
    const { evil } = await forked()
    const main = await push('dave', 'acme/shop', 'ours')
    const other = await push('dave', 'acme/shop', 'other', 'other')
    const fixture = await startRemoteSyncFixture(renderer, { hub: hub() })
    await fixture.applyApplication()
    await fixture.applyRemoteSync({ source: { commit: evil } })
    await fixture.approve()
    await readyReason(fixture.client, remoteSync, { namespace: fixture.namespace, name: 'shop' }, 'CommitNotInRepository')
    for (const commit of [main, other]) {
      await fixture.applyRemoteSync({ source: { commit } })
      await fixture.buildOf(commit)
    }
    expect(await builtCommits(fixture)).not.toContain(evil)
  })
})

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
    await changeRepository(actionOf('olivia'), { name: 'shop-old' })
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

describe('a branch that is renamed', () => {
  const rename = (from: string, to: string) => renameBranch(actionOf('olivia'), from, to)

  test('is followed under its new name, and the status says what to correct; a new branch of the former name is followed again', async () => {
    const fixture = await following()
    await rename('main', 'trunk')
    const renamed = await afterWake(fixture)
    expect(renamed.renamedBranch).toEqual({ from: 'main', to: 'trunk' })
    expect(findCondition(renamed.conditions, 'Ready')?.message).toContain('set spec.source.branch to trunk')

    const second = await push('dave', 'acme/shop', 'after the rename', 'trunk')
    expect(await afterWake(fixture)).toMatchObject({ commit: second, renamedBranch: { to: 'trunk' } })
    await fixture.buildOf(second)

    const third = await push('dave', 'acme/shop', 'a new branch of the old name', 'main')
    const status = await afterWake(fixture)
    expect(status.commit).toBe(third)
    expect(status).not.toHaveProperty('renamedBranch')
  })
})

test('a commit of a followed branch with [skip ci] is not built until somebody pushes another one', async () => {
  const fixture = await startRemoteSyncFixture(renderer, { hub: hub() })
  const first = await push('dave', 'acme/shop', 'ours')
  await fixture.applyApplication()
  await fixture.applyRemoteSync()
  await fixture.approve()
  await fixture.endBuild(await fixture.buildOf(first), succeeded(1))
  await waitUntil('the first commit is built', async () => (await afterWake(fixture)).imageCommit === first || undefined)
  const skipped = await push('dave', 'acme/shop', 'docs [skip ci]')
  expect(await afterWake(fixture)).toMatchObject({ commit: skipped, unbuilt: { commit: skipped, since: first, skipped: true } })
  const next = await push('dave', 'acme/shop', 'more docs')
  expect(await afterWake(fixture)).not.toHaveProperty('unbuilt')
  await fixture.buildOf(next)
  expect(await builtCommits(fixture)).not.toContain(skipped)
})
