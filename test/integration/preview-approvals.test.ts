// Who can let the code of a fork run: people with write access, by a comment, a review, the page, the API and the CLI; and
// everybody who cannot, as the author of the fork, as a developer of the tenant without access on GitHub, and as people of
// another tenant. Real API server, emulator and webhooks.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addCollaborator, removeCollaborator } from '../../dev/github/actions/people/collaborators.ts'
import { createComment, editComment } from '../../dev/github/actions/pull-requests/comments.ts'
import { submitReview } from '../../dev/github/actions/pull-requests/reviews.ts'
import type { PullRequest } from '../../dev/github/state/repositories.ts'
import type { Browser } from '../../dev/github/testing/browser.ts'
import { previewApproval } from '../../src/api/apps/preview-approval.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { apiCall, kubectlLogin, type Tokens } from '../fixtures/kubectl-login.ts'
import { type PreviewFixture, startPreviewFixture } from '../fixtures/preview-fixture.ts'
import { runSekisho } from '../fixtures/run-sekisho.ts'

let fixture: PreviewFixture
let folder: string
const tokensOf: Record<string, Tokens> = {}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sekisho-previews-'))
  fixture = await startPreviewFixture()
  const { environment } = fixture
  await writeFile(join(folder, 'ca.pem'), environment.certificateAuthority)
  // Gary has a role in a tenant of his own, so that he gets tokens.
  const globex =
    environment.github.context.state.organizations.find(one => one.login.startsWith('globex')) ?? expect.fail('no globex')
  const account = { host: environment.host, id: globex.id, login: globex.login, type: 'Organization' }
  await environment.kube.apply(
    tenant,
    {
      apiVersion: tenant.apiVersion,
      kind: tenant.kind,
      metadata: { name: globex.login },
      spec: { account, namespace: globex.login, roles: [{ role: 'admin', subject: { type: 'User', id: 1004 } }] },
    },
    { fieldManager: 'test' },
  )
  for (const login of ['dave', 'olivia', 'gary']) {
    const { browser } = await environment.signIn(login)
    // Until the broker's cache shows both Tenants.
    tokensOf[login] = await waitUntil('the token', () => kubectlLogin(environment, browser, login))
  }
})
afterAll(async () => {
  await fixture?.stop()
  await rm(folder, { recursive: true, force: true })
})

const command = (commit: string): string => `/sekisho approve ${commit}`
const say = (login: string, pull: PullRequest, text: string) => createComment(fixture.actionOf(login), pull.number, text)

/** The audit log has so many approvals of a commit, with that outcome. */
async function recorded(commit: string, outcome: 'allowed' | 'denied') {
  const entries = await fixture.environment.store.audit.list({ action: 'preview.approved', limit: 1000 })
  return entries.filter(entry => entry.outcome === outcome && entry.details['headCommit'] === commit)
}

/**
 * Nothing is approved, although the controller read what was said: it is asked twice, and the second time begins when the first
 * has ended.
 */
async function nothingIsApproved(commit: string): Promise<void> {
  const { faults } = fixture.environment.github.context
  const path = `/repositories/4001/issues/${latestNumber}/comments`
  const counter = faults.arm({ kind: 'slow-answer', method: 'GET', path, milliseconds: 1 }, null)
  const questions = (): number => faults.list().find(({ id }) => id === counter)?.used ?? 0
  await fixture.show([{ number: latestNumber, headCommit: commit }])
  for (const time of ['first', 'second']) {
    const before = questions()
    // One pull request is not asked about twice within five seconds.
    fixture.advance(6_000)
    await fixture.wake()
    await waitUntil(`the ${time} question`, async () => questions() > before)
  }
  faults.disarm(counter)
  expect((await fixture.approvals()).filter(({ spec }) => spec.headCommit === commit)).toEqual([])
  expect(await recorded(commit, 'allowed')).toEqual([])
}
let latestNumber = 0

async function openFork(branch: string): Promise<PullRequest> {
  const pull = await fixture.openFork(branch)
  latestNumber = pull.number
  return pull
}

describe('a comment', () => {
  test('of a person with write access approves exactly this commit, once', async () => {
    const pull = await openFork('comment')
    const { sha } = pull.head
    say('dave', pull, command(sha))
    const approval = await fixture.approvalOf(sha)
    expect(approval).toMatchObject({
      metadata: {
        name: `shop-pr-${pull.number}-${sha.slice(0, 12)}`,
        ownerReferences: [{ kind: 'AppPipeline', name: 'shop', controller: false }],
      },
      spec: { repository: 4001, number: pull.number, headCommit: sha, by: { id: 1002, login: 'dave' }, via: 'Comment' },
    })
    await fixture.wake()
    say('olivia', pull, command(sha))
    await fixture.wake()
    const [record, ...more] = await recorded(sha, 'allowed')
    expect(more).toEqual([])
    expect(record).toMatchObject({
      actor: fixture.environment.subjectOf('dave'),
      object: `PreviewApproval/${fixture.namespace}/${approval.metadata.name}`,
    })
    await waitUntil('the condition', async () => {
      const now = await fixture.environment.kube.get(previewApproval, {
        namespace: fixture.namespace,
        name: approval.metadata.name,
      })
      return findCondition(now?.status?.conditions, 'Ready')?.reason === 'Approved'
    })
  })

  test('of the author of the fork, of a member without write access, or with a short id approves nothing', async () => {
    const pull = await openFork('strangers')
    const { sha } = pull.head
    say('noah', pull, command(sha))
    say('mia', pull, command(sha))
    say('dave', pull, command(sha.slice(0, 12)))
    say('dave', pull, `> ${command(sha)}`)
    await nothingIsApproved(sha)
  })

  test('that was edited approves nothing, whoever wrote it', async () => {
    const pull = await openFork('edited')
    const { sha } = pull.head
    const comment = say('dave', pull, 'Interesting.')
    // GitHub's times are in seconds.
    const written = Date.now()
    await waitUntil('another second', () => Date.now() >= written + 1000)
    editComment(fixture.actionOf('dave'), comment, command(sha))
    await nothingIsApproved(sha)
  })

  test('of somebody who lost write access since approves nothing', async () => {
    const action = fixture.actionOf('olivia')
    const gary = fixture.actionOf('gary').sender
    addCollaborator(action, gary as never, 'write')
    const pull = await openFork('former')
    const { sha } = pull.head
    removeCollaborator(action, gary as never)
    say('gary', pull, command(sha))
    await nothingIsApproved(sha)
  })

  test('of somebody who gets write access afterwards counts from then on, without another comment', async () => {
    const action = fixture.actionOf('olivia')
    const mia = fixture.actionOf('mia').sender
    const pull = await openFork('later')
    const { sha } = pull.head
    say('mia', pull, command(sha))
    await nothingIsApproved(sha)
    // Once the later word of dave counts, no question about mia is under way.
    const other = await fixture.openFork('meanwhile')
    await fixture.show([pull, other].map(({ number, head }) => ({ number, headCommit: head.sha })))
    say('dave', other, command(other.head.sha))
    await fixture.approvalOf(other.head.sha)
    expect(await recorded(sha, 'allowed')).toEqual([])
    addCollaborator(action, mia, 'write')
    expect(await fixture.approvalOf(sha)).toMatchObject({ spec: { by: { id: 1003, login: 'mia' }, via: 'Comment' } })
    removeCollaborator(action, mia)
  })

  test('for one commit does not hold after a push; its approval ends, and the log of it stays', async () => {
    const pull = await openFork('pushed')
    const first = pull.head.sha
    say('dave', pull, command(first))
    const approval = await fixture.approvalOf(first)
    const second = await fixture.push('pushed', 'second')
    await fixture.show([{ number: pull.number, headCommit: second }])
    await fixture.wake()
    const key = { namespace: fixture.namespace, name: approval.metadata.name }
    await waitUntil('the approval is superseded', async () => {
      const now = await fixture.environment.kube.get(previewApproval, key)
      return findCondition(now?.status?.conditions, 'Ready')?.reason === 'Superseded'
    })
    expect((await fixture.approvals()).filter(({ spec }) => spec.headCommit === second)).toEqual([])
    fixture.advance(11 * 60_000)
    await fixture.wake()
    await waitUntil('it is gone', async () => (await fixture.environment.kube.get(previewApproval, key)) === undefined)
    expect(await recorded(first, 'allowed')).toHaveLength(1)
    fixture.advance(-11 * 60_000)
  })
})

describe('a review', () => {
  test('approves the commit that it is about, and not the one that was pushed after it', async () => {
    const pull = await openFork('review')
    const first = pull.head.sha
    await submitReview(fixture.actionOf('dave'), pull, { state: 'APPROVED', body: 'fine', commitId: undefined })
    expect(await fixture.approvalOf(first)).toMatchObject({ spec: { via: 'Review', by: { id: 1002 } } })
    const second = await fixture.push('review', 'another')
    await fixture.show([{ number: pull.number, headCommit: second }])
    await nothingIsApproved(second)
  })

  test('of a stranger approves nothing', async () => {
    const pull = await openFork('review-of-stranger')
    await submitReview(fixture.actionOf('mia'), pull, { state: 'APPROVED', body: 'fine', commitId: undefined })
    await nothingIsApproved(pull.head.sha)
  })
})

const approve = (login: string, number: number, headCommit: string, namespace = fixture.namespace) =>
  apiCall(fixture.environment, tokensOf[login] ?? {}, `/api/v1/tenants/${namespace}/previews/shop/${number}/approval`, {
    headCommit,
  })

/** Until the broker's cache shows the commit: a person who may see it finds it on the page. */
async function listed(pull: PullRequest): Promise<void> {
  watcher ??= (await fixture.environment.signIn('dave')).browser
  const url = `${fixture.environment.url}/tenants/${fixture.namespace}/previews`
  await waitUntil(
    'the broker knows the commit',
    async () => (await watcher?.open(url))?.text.includes(`value="${pull.head.sha}"`) || undefined,
    { everyMilliseconds: 1000 },
  )
}
let watcher: Browser | undefined

describe('the API', () => {
  test('lets a person with write access approve the present head, also twice', async () => {
    const pull = await openFork('api')
    await listed(pull)
    const name = `shop-pr-${pull.number}-${pull.head.sha.slice(0, 12)}`
    expect(await approve('dave', pull.number, pull.head.sha)).toMatchObject({ status: 200, body: { approval: name } })
    expect(await fixture.approvalOf(pull.head.sha)).toMatchObject({
      spec: { via: 'CommandLine', by: { id: 1002, login: 'dave' } },
    })
    expect(await approve('olivia', pull.number, pull.head.sha)).toMatchObject({ status: 200, body: { approval: name } })
  })

  test('refuses a commit that is not the head any more', async () => {
    const pull = await openFork('api-old')
    await listed(pull)
    const former = pull.head.sha
    const present = await fixture.push('api-old', 'sneaked in')
    const answer = await approve('dave', pull.number, former)
    expect(answer).toMatchObject({ status: 409, body: { error: { message: expect.stringContaining(present) } } })
    expect((await fixture.approvals()).filter(({ spec }) => spec.number === pull.number)).toEqual([])
  })

  test('refuses a developer of the tenant who may not write to the repository, and records it', async () => {
    const action = fixture.actionOf('olivia')
    const pull = await openFork('api-developer')
    await listed(pull)
    // Dave stays a developer in the cluster by his team, which loses the repository.
    const team =
      fixture.environment.github.context.state.teams.find(({ slug }) => slug === 'developers') ?? expect.fail('no team')
    const { repositories } = team
    action.context.store.change(() => {
      team.repositories = []
    })
    try {
      expect(await approve('dave', pull.number, pull.head.sha)).toMatchObject({ status: 403 })
    } finally {
      action.context.store.change(() => {
        team.repositories = repositories
      })
    }
    expect(await recorded(pull.head.sha, 'denied')).toMatchObject([{ actor: fixture.environment.subjectOf('dave') }])
    expect(await recorded(pull.head.sha, 'allowed')).toEqual([])
    expect((await fixture.approvals()).filter(({ spec }) => spec.number === pull.number)).toEqual([])
  })

  test('does not exist for people of another tenant, whatever they ask about', async () => {
    const pull = await openFork('api-tenant')
    await listed(pull)
    const seen = await approve('gary', pull.number, pull.head.sha)
    const absent = await approve('gary', pull.number, pull.head.sha, 'nowhere')
    expect(seen.status).toBe(404)
    const messageOf = ({ body }: typeof seen) => (body['error'] as { readonly message: string }).message
    expect(messageOf(seen)).toBe(messageOf(absent))
  })

  test('takes no number, name or commit of another form, and nobody without a token', async () => {
    const path = `/api/v1/tenants/${fixture.namespace}/previews`
    const call = (rest: string, body: object, login = 'dave') =>
      apiCall(fixture.environment, tokensOf[login] ?? {}, `${path}/${rest}`, body)
    const headCommit = 'a'.repeat(40)
    for (const rest of ['shop/0/approval', 'shop/1e3/approval', 'Shop/7/approval', 'shop%2F..%2Fx/7/approval'])
      expect((await call(rest, { headCommit })).status, rest).toBe(400)
    for (const commit of ['a'.repeat(12), 'A'.repeat(40), 'main', ''])
      expect((await call('shop/7/approval', { headCommit: commit })).status, commit).toBe(400)
    expect((await call('shop/7/approval', { headCommit }, 'nobody')).status).toBe(401)
  })
})

describe('the page', () => {
  const path = () => `/tenants/${fixture.namespace}/previews`

  test('shows the whole commit with its changes on GitHub, and approves it', async () => {
    const pull = await openFork('page')
    await listed(pull)
    const { browser } = await fixture.environment.signIn('dave')
    const page = await browser.open(`${fixture.environment.url}${path()}`)
    expect(page.text).toContain(`/pull/${pull.number}/commits/${pull.head.sha}`)
    await page.form('Approve').submit()
    expect(await fixture.approvalOf(pull.head.sha)).toMatchObject({ spec: { via: 'Page', by: { id: 1002, login: 'dave' } } })
  })

  test('approves nothing without the secret of the person’s own form', async () => {
    const pull = await openFork('page-forged')
    await listed(pull)
    const { page: foreign } = await fixture.environment.signIn('olivia', path())
    const secret = foreign.form('Approve').fields.get('csrf') ?? expect.fail('no secret')
    const { page } = await fixture.environment.signIn('dave', path())
    for (const csrf of ['', secret]) expect((await page.form('Approve').submit({ csrf })).status).toBe(403)
    expect((await page.form('Approve').submit({ csrf: [] })).status).toBe(400)
    expect((await fixture.approvals()).filter(({ spec }) => spec.number === pull.number)).toEqual([])
  })

  test('shows nothing to people of another tenant, and to the author of the fork', async () => {
    const pull = await openFork('page-strangers')
    await listed(pull)
    for (const login of ['gary', 'noah']) {
      const { browser } = await fixture.environment.signIn(login)
      expect((await browser.open(`${fixture.environment.url}${path()}`)).text, login).not.toContain(pull.head.sha)
    }
  })
})

test('sekisho previews approve does the same, and says what a short id is', async () => {
  const pull = await openFork('cli')
  await listed(pull)
  const variables = {
    HOME: join(folder, 'dave'),
    SEKISHO_ISSUER: fixture.environment.url,
    SEKISHO_CA_FILE: join(folder, 'ca.pem'),
  }
  const sekisho = (args: readonly string[]) => runSekisho(args, { ...variables, KUBECONFIG: join(folder, 'kubeconfig') })
  const file = join(folder, 'url')
  const running = sekisho(['login', '--no-browser', '--print-url-file', file])
  const url = await waitUntil('the address', async () => (await readFile(file, 'utf8').catch(() => '')).trim() || undefined)
  const { browser } = await fixture.environment.signIn('dave')
  await (await browser.open(url)).form('Continue as dave').submit()
  expect((await running).code).toBe(0)
  const server = ['--server', 'https://127.0.0.1:1', '--certificate-authority', join(folder, 'ca.pem')]
  expect(await sekisho(['kubeconfig', ...server, '--namespace', fixture.namespace])).toMatchObject({ code: 0 })
  const short = await sekisho(['previews', 'approve', 'shop', String(pull.number), '--commit', pull.head.sha.slice(0, 12)])
  expect(short).toMatchObject({ code: 2, err: expect.stringContaining('--commit must be the full id') })
  const answer = await sekisho(['previews', 'approve', 'shop', String(pull.number), '--commit', pull.head.sha, '-o', 'json'])
  expect(answer).toMatchObject({ code: 0 })
  expect(JSON.parse(answer.out)).toMatchObject({ number: pull.number, headCommit: pull.head.sha })
  expect(await fixture.approvalOf(pull.head.sha)).toMatchObject({ spec: { via: 'CommandLine' } })
})
