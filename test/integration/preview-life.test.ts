// What people do to a pull request and to its repository while it has a preview. The controllers of AppPipelines, RemoteSyncs
// and Applications, real git and a real API server against the GitHub emulator.
import { describe, expect, test } from 'vitest'
import { createRepository } from '../../dev/github/actions/create-repository.ts'
import { installApp } from '../../dev/github/actions/install-app.ts'
import { acceptMembership, setRole } from '../../dev/github/actions/memberships.ts'
import { addLabels, labelNamed, removeLabel } from '../../dev/github/actions/pull-requests/labels.ts'
import { editPullRequest, openPullRequest, setDraft } from '../../dev/github/actions/pull-requests/pull-requests.ts'
import { changeRepository } from '../../dev/github/actions/repository/change.ts'
import { deleteRepository } from '../../dev/github/actions/repository/delete.ts'
import { forkRepository } from '../../dev/github/actions/repository/fork.ts'
import { transferRepository } from '../../dev/github/actions/repository/transfer.ts'
import { organizationById } from '../../dev/github/state/github-state.ts'
import { application } from '../../src/api/apps/application.ts'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { kpackBuilds } from '../../src/services/builds/kpack/resources.ts'
import { clock, github, renderer, useEmulatedGitHub } from '../fixtures/emulated-github.ts'
import { objectsOf, type Previews, startPipelineFixture } from '../fixtures/pipeline-fixture.ts'
import { actsOn, shop } from '../fixtures/pull-requests.ts'

useEmulatedGitHub()

const { push, open, pullOf, actionOf, person, fork, hub } = actsOn(
  () => github,
  () => clock,
)
const start = (changes: Record<string, unknown> = {}) => startPipelineFixture(renderer, { hub: hub(), changes })
const acme = () => organizationById(github.context.state, 2001) ?? expect.fail('no organisation')

async function opened(fixture: Previews, branch = 'feature'): Promise<{ readonly number: number; readonly commit: string }> {
  const commit = await push('dave', 'acme/shop', branch, 'one')
  const { number } = await open('dave', branch)
  await fixture.wakePipeline()
  await fixture.approve(`shop-pr-${number}`)
  return { number, commit }
}

/** Those that are not being deleted. */
async function builtCommits({ client, namespace }: Previews): Promise<(string | undefined)[]> {
  const builds = await client.list(kpackBuilds, { namespace })
  return builds.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ spec }) => spec.source.git?.revision)
}

describe('a pull request', () => {
  test('loses its preview with its label, as a draft, into another branch, by its title; and gets it again', async () => {
    const fixture = await start({ policy: { labels: ['Preview'], baseBranches: ['main'], drafts: false } })
    await push('dave', 'acme/shop', 'release', 'release')
    await push('dave', 'acme/shop', 'feature', 'one')
    const { number } = await open('dave', 'feature')
    const pull = pullOf(number)
    const edit = (change: { readonly title?: string; readonly base?: string }) =>
      editPullRequest(actionOf('dave'), pull, { title: undefined, body: undefined, base: undefined, ...change })
    const unlabel = () => {
      const label = labelNamed(actionOf('dave'), 'preview') ?? expect.fail('there is no such label')
      return removeLabel(actionOf('dave'), pull, label)
    }
    await fixture.wakePipeline()
    await fixture.rows({ [number]: 'LeftOut' })
    const changes: readonly (readonly [string, () => Promise<void>, () => Promise<void>])[] = [
      ['LabelMissing', unlabel, () => addLabels(actionOf('dave'), pull, ['preview'])],
      ['DraftExcluded', () => setDraft(actionOf('dave'), pull, true), () => setDraft(actionOf('dave'), pull, false)],
      ['BaseBranchExcluded', () => edit({ base: 'release' }), () => edit({ base: 'main' })],
      ['SkipRequested', () => edit({ title: 'x [Skip Preview]' }), () => edit({ title: 'x' })],
    ]
    await addLabels(actionOf('dave'), pull, ['preview'])
    for (const [reason, exclude, include] of changes) {
      await fixture.wakePipeline()
      await fixture.rows({ [number]: 'Waiting' })
      expect(await fixture.existing(), reason).toEqual(objectsOf(number))
      await exclude()
      await fixture.wakePipeline()
      const { status } = await fixture.rows({ [number]: 'LeftOut' })
      expect(status?.previews?.[0]?.reason).toBe(reason)
      expect(await fixture.existing(), reason).toEqual([])
      await include()
    }
  })

  test('follows a force-push, a rebase and a way back; a push to the base branch changes nothing', async () => {
    const fixture = await start()
    const { number, commit: first } = await opened(fixture)
    await fixture.build(number, first, 1)
    const forced = await push('dave', 'acme/shop', 'feature', 'rewritten')
    await fixture.wakePipeline()
    await fixture.build(number, forced, 2)

    await push('dave', 'acme/shop', 'main', 'meanwhile')
    fixture.writes.length = 0
    await fixture.wakePipeline()
    await waitUntil('it was looked at', async () => fixture.writes.includes('status AppPipeline shop'))
    await fixture.rows({ [number]: 'Running' })
    expect((await builtCommits(fixture)).sort()).toEqual([first, forced].sort())

    // Its parent is the new commit of the base branch.
    const rebased = await push('dave', 'acme/shop', 'feature', 'rewritten and rebased')
    await fixture.wakePipeline()
    const superseded = await fixture.buildOf(rebased)
    const last = await push('dave', 'acme/shop', 'feature', 'once more')
    await fixture.wakePipeline()
    await fixture.build(number, last, 3)
    expect(await builtCommits(fixture)).not.toContain(superseded.spec.source.git?.revision)
    const app = await fixture.client.get(application, { namespace: fixture.namespace, name: `shop-pr-${number}` })
    expect(app?.spec.commit).toBe(last)
  })
})

describe('its repository', () => {
  test('is renamed, made private and archived: the preview stays and follows', async () => {
    const fixture = await start()
    const { number, commit } = await opened(fixture)
    await fixture.build(number, commit, 1)
    const olivia = () => actionOf('olivia')
    await changeRepository(olivia(), { private: false })
    await changeRepository(olivia(), { name: 'store' })
    await changeRepository(olivia(), { private: true })
    const second = await push('dave', 'acme/store', 'feature', 'two')
    await fixture.wakePipeline()
    await fixture.build(number, second, 2)
    const { status } = await fixture.rows({ [number]: 'Running' })
    expect(status?.repository).toMatchObject({ id: shop, name: 'acme/store' })

    await changeRepository(olivia(), { archived: true })
    await fixture.wakePipeline()
    await fixture.rows({ [number]: 'Running' })
    await fixture.listed('Listed')
    expect(await fixture.existing()).toEqual(objectsOf(number))
  })

  /** The App on globex, whose owner olivia is, too: the installation of another tenant. */
  function globexWithApp() {
    const { context } = github
    const globex = organizationById(context.state, 2002) ?? expect.fail('no organisation')
    setRole({ context, organization: globex, sender: person('gary') }, person('olivia'), 'admin')
    acceptMembership({ context, organization: globex, sender: person('olivia') })
    const [app] = context.state.apps
    const { id } = installApp(context, app ?? expect.fail('no App'), {
      ...{ accountId: globex.id, installerId: person('gary').id },
      ...{ repositorySelection: 'all', repositoryIds: [] },
    })
    return { account: globex, installation: id }
  }

  test.each([
    ['an account without the App', () => ({ account: person('olivia'), installation: undefined })],
    ['an organisation of another tenant that has the App', globexWithApp],
  ])('is transferred to %s: the preview stays, nothing new is built, and the status says why', async (_what, receiver) => {
    const fixture = await start()
    const { number, commit } = await opened(fixture)
    await fixture.build(number, commit, 1)
    const { account, installation } = receiver()
    transferRepository(actionOf('olivia'), { newOwner: account, newName: undefined, teamIds: [] })
    const later = await push('olivia', `${account.login}/shop`, 'feature', 'after the transfer')
    await fixture.wakePipeline()
    await fixture.listed('WaitingForGrant')
    await fixture.wake(`shop-pr-${number}`)
    await fixture.rows({ [number]: 'Waiting' })
    expect(await fixture.existing()).toEqual(objectsOf(number))
    expect(await builtCommits(fixture)).not.toContain(later)
    // The grant is for the installation of the account that had the repository, whoever has it now.
    const tokens = Object.values(github.context.state.credentials.accessTokens)
    expect(tokens.filter(token => token.kind === 'installation' && token.installationId === installation)).toEqual([])
    const app = await fixture.client.get(application, { namespace: fixture.namespace, name: `shop-pr-${number}` })
    expect(app?.status?.commit).toBe(commit)
  })

  test('is deleted and made again: a pull request of the same number is another one, and its commit never runs', async () => {
    const fixture = await start()
    const { number, commit } = await opened(fixture)
    await fixture.build(number, commit, 1)
    await deleteRepository(actionOf('olivia'))
    const wanted = { name: 'shop', description: null, private: false, withReadme: true }
    const made = await createRepository(github.context, acme(), person('olivia'), wanted)
    await push('olivia', 'acme/shop', 'feature', 'another repository')
    const again = () => actionOf('olivia', made.id)
    const noah = person('noah')
    await forkRepository({ ...again(), sender: noah }, { owner: noah, name: undefined, defaultBranchOnly: true })
    for (const login of ['olivia', 'noah']) {
      const evil = await push(login, `${login === 'noah' ? 'noah' : 'acme'}/shop`, 'feature', `of ${login}`)
      const head = login === 'noah' ? 'noah:feature' : 'feature'
      const pull = { title: 'x', body: null, head, seesHead: () => true, base: 'main', draft: false }
      await openPullRequest({ ...again(), sender: person(login) }, pull)
      await fixture.wakePipeline()
      await fixture.wake(`shop-pr-${number}`)
      await fixture.listed('WaitingForGrant')
      expect(await builtCommits(fixture)).not.toContain(evil)
    }
    expect(github.context.state.pullRequests.map(one => [one.repositoryId, one.number])).toContainEqual([made.id, number])
    expect(await fixture.existing()).toEqual(objectsOf(number))
    const app = await fixture.client.get(application, { namespace: fixture.namespace, name: `shop-pr-${number}` })
    expect(app?.status?.commit).toBe(commit)
  })
})

describe('the fork of a pull request', () => {
  test('is deleted: the preview goes, whatever was approved', async () => {
    const fixture = await start({ policy: { forks: 'Approved' } })
    await fork()
    const theirs = await push('noah', 'noah/shop', 'main', 'theirs')
    const { number } = await open('noah', 'noah:main')
    await fixture.wakePipeline()
    await fixture.rows({ [number]: 'WaitingForApproval' })
    await fixture.approveHead(number, theirs)
    await fixture.approve(`shop-pr-${number}`)
    await fixture.buildOf(theirs)
    const forked = github.context.state.repositories.find(one => one.ownerId === person('noah').id && one.name === 'shop')
    await deleteRepository(actionOf('noah', forked?.id))
    await fixture.wakePipeline()
    const { status } = await fixture.rows({ [number]: 'LeftOut' })
    expect(status?.previews?.[0]?.reason).toBe('ForkDeleted')
    await waitUntil('all is gone', async () => (await fixture.existing()).length === 0)
  })

  test('has a commit that another pull request got approved: it waits all the same, and so does a second one with it', async () => {
    const fixture = await start({ policy: { forks: 'Approved' } })
    await fork()
    const theirs = await push('noah', 'noah/shop', 'one', 'theirs')
    const { number: first } = await open('noah', 'noah:one')
    await fixture.wakePipeline()
    await fixture.approveHead(first, theirs)
    await fixture.approve(`shop-pr-${first}`)
    await fixture.buildOf(theirs)
    // The same commit under another branch, into another branch, and therefore another number.
    await push('dave', 'acme/shop', 'release', 'release')
    const { number: second } = await open('noah', 'noah:one', 'again', 'release')
    await fixture.wakePipeline()
    await fixture.rows({ [first]: 'Building', [second]: 'WaitingForApproval' })
    expect(await fixture.existing()).toEqual(objectsOf(first))
  })

  test('has the newest commit of a branch of the repository: it is of a fork all the same', async () => {
    const fixture = await start({ policy: { forks: 'Approved' } })
    await fork()
    const own = await push('dave', 'acme/shop', 'own', 'reviewed')
    const { git } = github.context
    const forked = github.context.state.repositories.find(one => one.ownerId === person('noah').id && one.name === 'shop')
    await git.borrow(shop, forked?.id ?? 0, own)
    await git.updateRef(forked?.id ?? 0, 'refs/heads/copy', own)
    const { number } = await open('noah', 'noah:copy')
    await fixture.wakePipeline()
    await fixture.rows({ [number]: 'WaitingForApproval' })
    expect(await fixture.existing()).toEqual([])
    expect(await builtCommits(fixture)).toEqual([])
  })
})

describe('hostile names', () => {
  const long = `${'x'.repeat(140)}/${'y'.repeat(159)}`
  const names = [
    long,
    '🚀🚀/ünïcode-🏳️‍🌈',
    '$(reboot);`reboot`|reboot&&reboot',
    '"><script>reboot</script>\'<img/src=x>',
    '{{reboot}}-#!reboot%0areboot',
    '---\u202ereboot\u009b31m',
    '-reboot--pipeline=reboot',
  ]

  test('of branches, titles and labels reach an environment variable as text, and nothing else', async () => {
    const fixture = await start({
      host: '{branch}-{number}-{name}',
      env: [{ name: 'BRANCH', fact: 'HeadBranch' }],
      limits: { previews: 20 },
    })
    const { client, namespace } = fixture
    const numbers = new Map<number, string>()
    for (const name of names) {
      await push('dave', 'acme/shop', name, 'one')
      const { number } = await open('dave', name, `${name}\n# reboot @acme/owners`)
      await addLabels(actionOf('dave'), pullOf(number), [name.slice(0, 50)])
      numbers.set(number, name)
    }
    await fixture.wakePipeline()
    const states = Object.fromEntries([...numbers.keys()].map(number => [number, 'Waiting']))
    // A row names its Application once the controller's cache shows it.
    const waiting = await waitUntil('every row names an Application', async () => {
      const found = await fixture.rows(states)
      return found.status?.previews?.every(({ application: name }) => name !== undefined) ? found : undefined
    })
    expect(await fixture.existing()).toEqual(objectsOf(...numbers.keys()))
    for (const [number, name] of numbers) {
      const app = await client.get(application, { namespace, name: `shop-pr-${number}` })
      const { env = [], domains = [], ...rest } = app?.spec ?? {}
      expect(env.find(one => one.name === 'BRANCH')?.value?.replaceAll('$$', '$')).toBe(name.slice(0, 255))
      expect(domains[0]).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\./)
      const sync = await client.get(remoteSync, { namespace, name: `shop-pr-${number}` })
      const texts = JSON.stringify([rest, app?.metadata.labels, app?.metadata.annotations, sync])
      expect(texts).not.toMatch(/reboot|🚀|\u202e|\u009b|yyyy/)
    }
    const { previews, ...status } = waiting.status ?? {}
    expect(JSON.stringify([status, previews?.map(row => ({ ...row, url: '' }))])).not.toMatch(/reboot|🚀|\u202e|\u009b|yyyy/)
    expect(new Set(previews?.map(({ application: name }) => name)).size).toBe(names.length)
  })

  test('of base branches end up in no host and no command; the conflict is reported', async () => {
    const fixture = await start({
      template: { source: 'Merge', application: { processes: [{ name: 'web', port: 1 }] }, build: {} },
    })
    const base = '$(reboot)\u202e`reboot`'
    await push('dave', 'acme/shop', base, 'base')
    await push('dave', 'acme/shop', 'feature', 'conflict')
    const { number } = await open('dave', 'feature', 'x', base)
    await fixture.wakePipeline()
    await fixture.approve(`shop-pr-${number}`)
    const { status } = await fixture.rows({ [number]: 'Conflict' })
    expect(status?.previews?.[0]).toMatchObject({ reason: 'MergeConflict' })
    const app = await fixture.client.get(application, { namespace: fixture.namespace, name: `shop-pr-${number}` })
    expect(JSON.stringify(app?.spec)).not.toContain('reboot')
    const said = findCondition(app?.status?.conditions, 'Ready')?.message
    expect(said).toContain('MergeConflict: spec.source.pullRequest')
    expect(said).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
  })
})
