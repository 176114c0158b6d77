// The page of a tenant: which parts are there, what people may do, that what strangers wrote stays text, and how often it is
// asked for again.
import { describe, expect, test } from 'vitest'
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import type { Application } from '../../../api/apps/application.ts'
import type { Release } from '../../../api/apps/release.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { Installation } from '../../../api/github/installation.ts'
import type { Bucket } from '../../../api/services/bucket.ts'
import type { ServiceInstance } from '../../../api/services/service-instance.ts'
import { type Tenant, tenant as tenantKind } from '../../../api/tenancy/tenant.ts'
import { bindingDigest } from '../../owners/stand-in-checks.ts'
import { noAccess, type TenantAccess } from '../../tenants/access.ts'
import type { TenantView } from '../../tenants/visible-tenants.ts'
import { choiceIn, everything as everyChoice } from '../state/choice.ts'
import { applicationPage } from './application-page.ts'
import { tenantPage, tenantStatePage } from './tenant-page.ts'

const created = new Date('2026-01-01T00:00:00Z')
const person = { host: 'github.com', userId: 1, login: 'olivia', subject: 'github|github.com|1', csrf: 'secret-of-the-form' }
const hostile = '"><script>alert(1)</script>\'&'
const head = 'a'.repeat(40)
const everything = Object.fromEntries(Object.keys(noAccess).map(name => [name, true])) as TenantAccess

const condition = (status: string, reason: string, message = '') => ({ type: 'Ready', status, reason, message })
const ready = [condition('True', 'Done')]

function tenant(login = 'acme', conditions: readonly object[] = []): Tenant {
  return {
    apiVersion: tenantKind.apiVersion,
    kind: tenantKind.kind,
    metadata: { name: 'acme', creationTimestamp: created.toISOString() },
    spec: { account: { host: 'github.com', id: 7, login, type: 'Organization' }, namespace: 'acme', roles: [] },
    status: { conditions },
  } as unknown as Tenant
}

const application = (text = 'plain', reason = 'Available'): Application =>
  ({
    metadata: { name: 'shop', namespace: 'acme' },
    spec: { chart: 'web', image: text },
    status: {
      url: 'https://shop.acme.example',
      release: 3,
      conditions: [condition(reason === 'Available' ? 'True' : 'False', reason, text)],
    },
  }) as unknown as Application

const service = (text = 'plain'): ServiceInstance =>
  ({
    metadata: { name: 'shop-db', namespace: 'acme' },
    spec: { class: 'postgresql', whenDeleted: 'Keep' },
    status: {
      plan: text,
      usage: { storage: '120Mi', measuredAt: created.toISOString() },
      conditions: [condition('False', 'ServerUnreachable', text)],
    },
  }) as unknown as ServiceInstance

const bucket = (text = 'plain', partial = false): Bucket =>
  ({
    metadata: { name: 'pictures', namespace: 'acme' },
    spec: { class: 'bucket', whenDeleted: 'Keep' },
    status: {
      plan: text,
      usage: { storage: '7Mi', objects: 12, ...(partial && { partial }), measuredAt: created.toISOString() },
      conditions: [condition('False', 'BucketMissing', text)],
    },
  }) as unknown as Bucket

const remoteSync = (text: string): RemoteSync =>
  ({
    metadata: { name: 'shop', namespace: 'acme' },
    spec: { repository: `acme/${text}`, source: { branch: text }, application: text },
    status: {
      commit: text,
      build: { name: 'b' },
      repository: { id: 1, name: `acme/${text}`, requested: `acme/${text}` },
      conditions: [condition('False', 'Building', text)],
    },
  }) as unknown as RemoteSync

const pipeline = (rows: readonly object[], text = 'shop'): AppPipeline =>
  ({
    metadata: { name: 'shop', namespace: 'acme' },
    spec: { repository: `acme/${text}` },
    status: { repository: { id: 11, name: `acme/${text}`, requested: `acme/${text}` }, previews: rows },
  }) as unknown as AppPipeline

const preview = (number: number, state: string, text = 'why') => ({
  ...{ number, headCommit: head, state, reason: 'Because', message: text, since: created.toISOString() },
  ...(state === 'Running' ? { url: `https://pr-${number}.example`, application: `shop-pr-${number}` } : {}),
})

const list = <T>(...items: readonly T[]) => ({ items, more: false })

function shown(change: Partial<TenantView> = {}, minutes = 60, choice = everyChoice): string {
  const view: TenantView = { tenant: tenant('acme', ready), role: undefined, access: noAccess, ...change }
  const now = new Date(created.getTime() + minutes * 60_000)
  return tenantPage({ person, view, issuer: 'https://here.example', web: 'https://github.com', now, choice }).toString()
}

const headings = (text: string): readonly string[] =>
  [...text.matchAll(/<h2[^>]*>([^<]*)<\/h2>/g)].flatMap(([, title]) => (title === 'kubectl' ? [] : [title ?? '']))

describe('a part is there exactly when the view has it', () => {
  test.each<[string, Partial<TenantView>, readonly string[]]>([
    ['nothing', {}, []],
    ['Applications', { applications: list(application()) }, ['Applications']],
    ['Applications that could not be read', { applications: 'unread' }, ['Applications']],
    ['services', { services: list(service()) }, ['Services']],
    ['services that could not be read', { services: 'unread' }, ['Services']],
    ['buckets', { buckets: list(bucket()) }, ['Services']],
    ['buckets that could not be read', { services: list(service()), buckets: 'unread' }, ['Services']],
    ['RemoteSyncs', { remoteSyncs: list(remoteSync('x')) }, ['RemoteSyncs']],
    ['builds', { builds: { builds: [], queued: [] } }, ['Builds']],
    ['AppPipelines', { pipelines: list(pipeline([])) }, ['Previews of pull requests']],
    [
      'AppPipelines with a fork that waits',
      { pipelines: list(pipeline([preview(7, 'WaitingForApproval')])) },
      ['Waits for approval', 'Previews of pull requests'],
    ],
    ['Installations', { installations: [] }, ['State']],
    ['the Tenant, by a role in it', { role: 'viewer' }, ['State', 'Roles']],
    ['the Tenant, by RBAC', { access: { ...noAccess, tenant: true } }, ['State', 'Roles']],
  ])('%s', (_what, change, titles) => {
    expect(headings(shown(change))).toEqual(titles)
  })

  test('the account of a tenant is for its people', () => {
    expect(shown({ applications: list() })).not.toContain('GitHub account')
    expect(shown({ role: 'developer' })).toContain('You are its developer.')
  })

  test('the audit log is offered to whose role lets them read it', () => {
    const roles = ['admin', 'auditor', 'developer', 'viewer'] as const
    const offered = roles.filter(role => shown({ role }).includes('href="/audit?namespace=acme"'))
    expect(offered).toEqual(['admin', 'auditor'])
  })
})

test('services show what uses them, as far as the person sees Applications', () => {
  const uses = {
    ...application(),
    spec: { ...application().spec, services: [{ name: 'db', instance: 'shop-db' }] },
  } as Application
  const text = shown({ services: list(service()), applications: list(uses) })
  for (const part of ['shop-db', 'ServerUnreachable', 'postgresql', '120Mi', '>shop<']) expect(text).toContain(part)
  expect(shown({ services: list(service()) })).not.toContain('>shop<')
  expect(shown({ services: { items: [service()], more: true } })).toContain('sekisho services list --namespace acme')
  expect(shown({ services: list() })).toContain('There is no database or bucket yet')
})

test('buckets stand beside databases, with their objects, and a database of the same name is another service', () => {
  const uses = {
    ...application(),
    spec: { ...application().spec, services: [{ name: 'pictures', bucket: 'pictures' }] },
  } as Application
  const text = shown({ services: list(service()), buckets: list(bucket()), applications: list(uses) })
  for (const part of ['shop-db', 'pictures', 'BucketMissing', '>bucket<', '7Mi, 12 objects', 'data-label="Used by">shop<'])
    expect(text).toContain(part)
  const namesake = { ...service(), metadata: { name: 'pictures', namespace: 'acme' } }
  expect(shown({ services: list(namesake), applications: list(uses) })).toContain('data-label="Used by"></td>')
  expect(shown({ buckets: list(bucket('plain', true)) })).toContain('more than 12 objects')
  expect(shown({ buckets: { items: [bucket()], more: true } })).toContain('sekisho services list --namespace acme')
})

test('what waits has a form with the whole commit and the secret of the person; nothing else has one', () => {
  const rows = [preview(7, 'WaitingForApproval'), preview(8, 'Running'), preview(9, 'LeftOut')]
  const text = shown({ pipelines: list(pipeline(rows)) })
  const forms = [...text.matchAll(/<form[^>]*previews\/approve[\s\S]*?<\/form>/g)].map(([form]) => form)
  expect(forms).toHaveLength(1)
  expect(forms[0]).toContain(`name="headCommit" value="${head}"`)
  expect(forms[0]).toContain('name="csrf" value="secret-of-the-form"')
})

test('commands that change something are for those who may, and links to logs for those who may read them', () => {
  const pipelines = list(pipeline([preview(8, 'Running')]))
  const remoteSyncs = list(remoteSync('x'))
  const may = shown({ access: everything, pipelines, remoteSyncs })
  expect(may).toContain('sekisho previews pause shop')
  expect(may).toContain('/tenants/acme/builds/shop-pr-8')
  expect(may).toContain('/tenants/acme/builds/shop"')
  const mayNot = shown({ pipelines, remoteSyncs })
  expect(mayNot).not.toContain('previews pause')
  expect(mayNot).not.toContain('/tenants/acme/builds')
})

describe('what strangers wrote is text', () => {
  const view: Partial<TenantView> = {
    ...{ tenant: tenant(hostile, ready), role: 'admin', access: everything },
    applications: list(application(hostile, 'Crashing')),
    services: list(service(hostile)),
    buckets: list(bucket(hostile)),
    remoteSyncs: list(remoteSync(hostile)),
    pipelines: list(pipeline([preview(7, 'WaitingForApproval', hostile), preview(8, 'Failed', hostile)], hostile)),
    builds: { builds: [], queued: [{ remoteSync: 'shop', commit: '', message: hostile }] },
  }

  test('on the page of the tenant', () => {
    const text = shown(view)
    // The only script is ours.
    expect(text.match(/<script/g)).toHaveLength(1)
    expect(text).not.toContain('alert(1)</script>')
    expect(text).toContain('https://github.com/acme/%22%3E%3Cscript%3E')
  })

  test('an address that is not one of the web is not a link', () => {
    const bad = { ...application(), status: { url: 'javascript:alert(1)' } } as unknown as Application
    const text = shown({ applications: list(bad) })
    expect(text).not.toContain('href="javascript:')
    expect(text).toContain('javascript:alert(1)')
  })

  test('on the page of an Application', () => {
    const release = (number: number, name = 'shop') =>
      ({
        metadata: { name: `shop-${number}`, creationTimestamp: created.toISOString() },
        spec: { number, image: hostile, reason: 'NewImage', by: { kind: 'FieldManager', name }, application: {} },
        status: { conditions: [condition('False', 'Unhealthy', hostile)] },
      }) as unknown as Release
    const options = { application: application(hostile, 'Crashing'), releases: list(release(4, hostile), release(3)) }
    const text = (access: TenantAccess) => applicationPage({ person, namespace: 'acme', view: { ...options, access } }).toString()
    expect(text(everything)).not.toContain('<script>')
    expect(text(everything)).toContain('runs</span>')
    expect(text(everything)).toContain('sekisho rollback shop &lt;number&gt; --namespace acme')
    expect(text(noAccess)).not.toContain('rollback shop')
  })
})

test('long lists and texts are cut, and the page says so', () => {
  const rows = Array.from({ length: 200 }, (_, index) => preview(index + 1, index < 60 ? 'WaitingForApproval' : 'LeftOut'))
  const text = shown({
    pipelines: list(pipeline(rows)),
    applications: { items: [application('m'.repeat(30_000), 'Crashing')], more: true },
  })
  expect(text).toContain('All 60 that wait')
  expect(text).toContain('All 200 pull requests')
  expect(text).toContain('kubectl get applications --namespace acme')
  expect(text.length).toBeLessThan(60_000)
})

describe('of many things', () => {
  const named = (name: string, reason: string): Application => {
    const { metadata, ...rest } = application('', reason)
    return { ...rest, metadata: { ...metadata, name } }
  }
  const many = Array.from({ length: 34 }, (_, index) => named(`app-${10 + index}`, index === 33 ? 'Crashing' : 'Available'))
  const names = (text: string): readonly string[] => [...text.matchAll(/applications\/(app-\d+)"/g)].map(([, name]) => name ?? '')
  const page = (query: Record<string, unknown> = {}) => shown({ applications: list(...many) }, 60, choiceIn(query))

  test('the failed ones come first, twenty at a time', () => {
    expect(names(page()).slice(0, 2)).toEqual(['app-43', 'app-10'])
    expect(names(page())).toHaveLength(20)
    expect(page()).toContain('1 to 20 of 34 <a href="/tenants/acme?applications=2#applications">Next</a>')
    expect(names(page({ applications: '2' }))).toHaveLength(14)
    expect(names(page({ applications: '99' }))).toHaveLength(14)
  })

  test('a name or a state can be chosen, with a form that needs no script, and the choice stays on other pages', () => {
    expect(page()).toContain('<form method="get" action="/tenants/acme" class="filter"')
    expect(names(page({ name: 'APP-12' }))).toEqual(['app-12'])
    expect(names(page({ state: 'attention' }))).toEqual(['app-43'])
    expect(page({ state: 'good' })).toContain('/tenants/acme?state=good&amp;applications=2#applications')
    expect(page({ name: 'none' })).toContain('None of them is what you filter by')
    expect(page({ name: hostile })).not.toContain('<script>alert')
  })

  test('few things need no form', () => {
    expect(shown({ applications: list(application()) })).not.toContain('class="filter"')
  })

  test('previews are closed where nothing needs anybody, and open with their number where something does', () => {
    const running = Array.from({ length: 12 }, (_, index) => preview(index + 1, 'Running'))
    expect(shown({ pipelines: list(pipeline(running)) })).toContain('<details id="previews-shop"><summary>')
    const failed = shown({ pipelines: list(pipeline([...running, preview(20, 'Failed')])) })
    expect(failed).toContain('<details id="previews-shop" open><summary>')
    expect(failed).toContain('1 to look at')
  })
})

describe('how often it is asked for again', () => {
  const seconds = (text: string) => [
    Number(/data-refresh="(\d+)"/.exec(text)?.[1]),
    Number(/<noscript><meta http-equiv="refresh" content="(\d+)">/.exec(text)?.[1] ?? 0),
  ]

  test('often while the tenant is prepared; without scripts seldom when that takes long', () => {
    expect(seconds(shown({ tenant: tenant(), role: 'admin' }, 1))).toEqual([3, 3])
    expect(seconds(shown({ tenant: tenant(), role: 'admin' }, 6))).toEqual([3, 60])
  })

  test('often while something changes, and else seldom and only by the script', () => {
    expect(seconds(shown({ applications: list(application('', 'RollingOut')) }))).toEqual([3, 10])
    expect(seconds(shown({ applications: list(application()) }))).toEqual([15, 0])
  })

  test('the sentence that is announced changes with what happens', () => {
    const summary = (text: string) => /data-summary="([^"]*)"/.exec(text)?.[1]
    const waiting = shown({ pipelines: list(pipeline([preview(7, 'WaitingForApproval')])), applications: list(application()) })
    expect(summary(waiting)).toBe('1 of 1 applications ready, 0 builds run or wait, 1 commit waits for approval')
  })
})

test('an App of the pool is offered until it is bound within the present ceiling of the account', () => {
  const account = { host: 'github.com', id: 7, login: 'acme', type: 'Organization' as const }
  const one = (name: string, app: string, permissions: Installation['spec']['ceiling']['permissions']): Installation => ({
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'Installation',
    metadata: { name, namespace: 'acme' },
    spec: {
      ...{ app, installationId: app === 'second' ? 88 : 77, account, boundBy: { id: 1, login: 'olivia' } },
      proof: { method: 'OrganizationOwner', provedAt: created.toISOString() },
      ceiling: { repositories: 'All', permissions },
    },
    status: { otherApps: [{ app: 'second', installationId: 88, permissions: { contents: 'write', metadata: 'read' } }] },
  })
  const offers = (...installations: readonly Installation[]) =>
    shown({ role: 'admin', installations }).includes('Bind the App second')
  const named = one('github', 'main', { contents: 'read' })
  expect(offers(named)).toBe(true)
  expect(offers(named, one('github-second', 'second', { contents: 'read' }))).toBe(false)
  expect(offers(named, one('github-second', 'second', { contents: 'write' }))).toBe(true)
})

describe('who answers for the binding', () => {
  const proof = { method: 'OrganizationOwner' as const, provedAt: '2026-01-02T00:00:00Z' }
  const binding = (change: Partial<Installation['spec']> = {}, status: Installation['status'] = { conditions: ready as never }) =>
    ({
      metadata: { name: 'github', namespace: 'acme', uid: 'u' },
      spec: {
        ...{ app: 'main', installationId: 77, boundBy: { id: 2, login: 'gary' }, proof },
        account: { host: 'github.com', id: 7, login: 'acme', type: 'Organization' },
        ceiling: { repositories: 'Selected', repositoryIds: [1, 2], permissions: { contents: 'read' } },
        ...change,
      },
      status,
    }) as unknown as Installation
  const text = (installation: Installation, change: Partial<TenantView> = {}) =>
    shown({ role: 'admin', installations: [installation], ...change })
  const olivia = { id: 1, login: 'olivia', proof }
  const noah = { id: 3, login: 'noah', proof }

  test('an admin who did not bind it is told what happens and what is confirmed, and asked to stand in', () => {
    const asked = text(binding())
    expect(asked).toContain('When gary no longer owns it and nobody stands in, every grant stops')
    expect(asked).toContain('2 selected repositories with contents: read')
    expect(asked).toContain('<button>Stand in for gary</button>')
    expect(asked).toContain(`name="shown" value="${bindingDigest([binding()])}"`)
    expect(text(binding(), { role: 'developer' })).not.toContain('Stand in')
    expect(text(binding({ boundBy: { id: 1, login: 'olivia' } }))).not.toContain('Stand in')
    const user = tenant('acme', ready)
    Object.assign(user.spec.account, { type: 'User' })
    expect(text(binding(), { tenant: user })).not.toContain('Stand in')
  })

  test('who stands in is named, may be withdrawn, and is asked no more', () => {
    const listed = text(binding({ standIns: [noah, olivia] }))
    for (const login of ['noah', 'olivia']) expect(listed).toContain(`<button>Withdraw ${login}</button>`)
    expect(listed).toContain('name="person" value="3"')
    expect(listed).not.toContain('Stand in for gary')
    expect(text(binding({ standIns: [noah] }))).toContain('Stand in for gary')
  })

  test('an Installation of another App that was bound later is asked about again', () => {
    const second = { ...binding(), metadata: { name: 'github-second', namespace: 'acme', uid: 'v' } }
    const view = { installations: [second, binding({ standIns: [olivia] })] }
    expect(text(binding(), view)).toContain('Stand in for gary')
  })

  test('when gary left, who stands in is said with the take-over; when nobody does, only that is left', () => {
    const stands = text(binding({ standIns: [noah] }, { conditions: ready as never, standIn: { id: 3, login: 'noah' } }))
    expect(stands).toContain('noah stands in for gary, who does not own acme any more')
    expect(stands).toContain('Take over the binding')
    const lost = text(binding({}, { conditions: [condition('False', 'BinderNoLongerOwner')] as never }))
    expect(lost).toContain('Take over the binding')
    expect(lost).not.toContain('Stand in')
  })

  test('what is in logins is text', () => {
    const listed = text(binding({ boundBy: { id: 2, login: hostile }, standIns: [{ ...noah, login: hostile }] }))
    expect(listed.match(/<script/g)).toHaveLength(1)
  })
})

test('while GitHub does not answer, only what the Tenant says is shown', () => {
  const view: TenantView = { tenant: tenant('acme', ready), role: 'admin', access: noAccess }
  const text = tenantStatePage({ person, view }).toString()
  expect(headings(text)).toEqual(['State'])
  expect(text).toContain('GitHub does not say in which teams you are')
})
