// What automation relies on: `kubectl wait` works on every kind, applying the same manifests again writes nothing, and a dry
// run creates nothing.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { applicationManifest, remoteSyncManifest } from './manifests.ts'
import { find, read, untilReason } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'
import { expectStillness } from './stillness.ts'

let platform: Platform

beforeAll(async () => {
  platform = await openPlatform(['dave', 'ada', 'olivia'])
})

afterAll(() => platform.admin.close())

type Discovered = {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly categories?: readonly string[]
}

test('kubectl get sekisho shows a developer everything of the tenant, without one error', async () => {
  const shown = await platform.kubectl('dave', ['get', 'sekisho', '-n', 'acme', '-o', 'name'])
  // kubectl ends with an error when the person may not list one kind of the category.
  expect(shown).toMatchObject({ code: 0, errors: '' })
  for (const one of ['application.apps.sekisho.dev/shop', 'remotesync.apps.sekisho.dev/shop', 'installation.github.sekisho.dev/'])
    expect(shown.output).toContain(one)
})

/**
 * They exist only while a pull request is open, and the demo ends with none: test/integration waits for their condition Ready.
 */
const whilePullRequestsAreOpen = ['githubreports.apps.sekisho.dev', 'previewapprovals.apps.sekisho.dev']

/** Every kind of the category `sekisho-platform`, by discovery: new kinds are included automatically. */
async function kindsOfCategory(): Promise<readonly { resource: string; namespaced: boolean; path: string }[]> {
  const groups = ['apps', 'github', 'tenancy'].map(group => `${group}.sekisho.dev`)
  const found = await Promise.all(
    groups.map(async group => {
      const path = `/apis/${group}/v1alpha1`
      const { resources } = (await platform.admin.call('GET', path)) as { readonly resources: readonly Discovered[] }
      return resources
        .filter(({ name, categories }) => !name.includes('/') && categories?.includes('sekisho-platform'))
        .map(({ name, namespaced }) => ({ resource: `${name}.${group}`, namespaced, path: `${path}/${name}` }))
    }),
  )
  return found.flat()
}

type Ready = {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly status?: { readonly conditions?: readonly { type: string; status: string }[] }
}

/** The demo claims no domain; a platform admin's approval stands for a DNS record. */
async function claimDomain(): Promise<void> {
  const host = 'e2e.example.com'
  const { uid } = (await read(platform.admin, 'tenant/acme')).metadata
  const claim = {
    apiVersion: 'tenancy.sekisho.dev/v1alpha1',
    kind: 'DomainClaim',
    metadata: { name: host },
    spec: { host, tenant: { name: 'acme', uid }, proof: 'Approval' },
  }
  const path = '/apis/tenancy.sekisho.dev/v1alpha1/domainclaims'
  expect((await platform.admin.request('POST', path, claim)).status).toBe(201)
  onTestFinished(async () => {
    await platform.admin.request('DELETE', `${path}/${host}`)
  })
  const wait = ['wait', '--for=condition=Ready', `domainclaim/${host}`, '--timeout=20s']
  expect(await platform.asAdministrator(wait)).toMatchObject({ code: 0 })
}

/** Nor does it keep a secret. */
async function keepSecret(): Promise<void> {
  const appSecret = {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'AppSecret',
    metadata: { name: 'e2e', namespace: 'acme' },
    spec: { values: { TOKEN: 'of-the-test' } },
  }
  const path = '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme/appsecrets'
  expect((await platform.admin.request('POST', path, appSecret)).status).toBe(201)
  onTestFinished(async () => {
    await platform.admin.request('DELETE', `${path}/e2e`)
  })
  const wait = ['wait', '--for=condition=Ready', 'appsecret/e2e', '-n', 'acme', '--timeout=20s']
  expect(await platform.asAdministrator(wait)).toMatchObject({ code: 0 })
}

/** Halts that the demo makes are lifted and gone; this one is of a grant that nobody has. */
async function haltNothing(): Promise<void> {
  const reason = ['--reason', 'the test looks at its condition']
  const made = await platform.sekisho('olivia', ['halt', 'grant', 'acme/e2e-none', '-n', 'acme', ...reason, '-o', 'json'])
  expect(made).toMatchObject({ code: 0, errors: '' })
  const { name } = JSON.parse(made.output) as { readonly name: string }
  onTestFinished(async () => {
    expect(await platform.sekisho('olivia', ['resume', name, '-n', 'acme', ...reason])).toMatchObject({ code: 0 })
    const gone = ['wait', '--for=delete', `halt/${name}`, '-n', 'acme', '--timeout=20s']
    expect(await platform.asAdministrator(gone)).toMatchObject({ code: 0 })
  })
}

/** Nor policies of grants; these only say what they would do. */
async function writePolicies(): Promise<void> {
  const rule = { name: 'nobody-administers', effect: 'Deny', permissions: { administration: 'read' } }
  const api = '/apis/github.sekisho.dev/v1alpha1'
  const policies = [
    ['GrantPolicy', 'grantpolicy/e2e', 'acme', `${api}/namespaces/acme/grantpolicies`],
    ['ClusterGrantPolicy', 'clustergrantpolicy/e2e', undefined, `${api}/clustergrantpolicies`],
  ] as const
  for (const [kind, reference, namespace, path] of policies) {
    const metadata = { name: 'e2e', ...(namespace === undefined ? {} : { namespace }) }
    const policy = { apiVersion: 'github.sekisho.dev/v1alpha1', kind, metadata, spec: { mode: 'Audit', rules: [rule] } }
    expect((await platform.admin.request('POST', path, policy)).status).toBe(201)
    onTestFinished(async () => {
      await platform.admin.request('DELETE', `${path}/e2e`)
    })
    const place = namespace === undefined ? [] : ['-n', namespace]
    const wait = ['wait', '--for=condition=Ready', reference, ...place, '--timeout=20s']
    expect(await platform.asAdministrator(wait)).toMatchObject({ code: 0 })
  }
}

/** Nor answers of people; without a policy that requires it, this one changes nothing. */
async function approve(): Promise<void> {
  const grant = await platform.kubectl('olivia', ['get', 'repositorygrant/remotesync-shop', '-n', 'acme', '-o', 'json'])
  const { metadata } = JSON.parse(grant.output) as { readonly metadata: { readonly name: string; readonly uid: string } }
  const answer = {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'GrantApproval',
    metadata: { name: 'e2e', namespace: 'acme' },
    spec: { grant: { name: metadata.name, uid: metadata.uid }, answer: 'Approve', reason: 'a test of conditions' },
  }
  expect(await platform.kubectl('olivia', ['create', '-f', '-'], JSON.stringify(answer))).toMatchObject({ code: 0 })
  onTestFinished(async () => {
    await platform.kubectl('olivia', ['delete', 'grantapproval/e2e', '-n', 'acme'])
  })
  const wait = ['wait', '--for=condition=Ready', 'grantapproval/e2e', '-n', 'acme', '--timeout=20s']
  expect(await platform.asAdministrator(wait)).toMatchObject({ code: 0 })
}

test('`kubectl wait --for=condition=Ready` works on every kind of the category sekisho-platform', async () => {
  await claimDomain()
  await keepSecret()
  await haltNothing()
  await writePolicies()
  await approve()
  const kinds = (await kindsOfCategory()).filter(({ resource }) => !whilePullRequestsAreOpen.includes(resource))
  expect(kinds.length).toBeGreaterThanOrEqual(10)
  for (const { resource, path } of kinds) {
    const { items } = (await platform.admin.call('GET', path)) as { readonly items: readonly Ready[] }
    const ready = items.find(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    )
    expect(ready, `the demo leaves a ${resource} that is Ready`).toBeDefined()
    const { name, namespace } = ready?.metadata ?? { name: '' }
    const answer = await platform.asAdministrator([
      'wait',
      '--for=condition=Ready',
      `${resource}/${name}`,
      '--timeout=5s',
      ...(namespace === undefined ? [] : ['-n', namespace]),
    ])
    expect(answer, resource).toMatchObject({ code: 0 })
    expect(answer.output).toContain('condition met')
  }
})

const example = ['application/shop', 'remotesync/shop', 'repositorygrant/remotesync-shop'] as const

async function versions(): Promise<readonly string[]> {
  return Promise.all(example.map(async reference => (await read(platform.admin, reference)).metadata.resourceVersion))
}

test('applying the same manifests again writes nothing', async () => {
  const folder = join(platform.world.repository, 'deploy/examples/shop')
  // The manifests may have changed since the demo; wait until the platform's own writes for them are done.
  expect(await platform.kubectl('dave', ['apply', '-k', folder])).toMatchObject({ code: 0 })
  await untilReason(platform.admin, 'application/shop', 'Available')
  await expectStillness(platform.admin, example, 2, 15)
  const before = await versions()
  // kubectl may print "configured" (it does not know the defaults within a list); the test checks that nothing was written.
  expect(await platform.kubectl('dave', ['apply', '-k', folder])).toMatchObject({ code: 0 })
  await expectStillness(platform.admin, example, 2, 15)
  expect(await versions()).toEqual(before)
})

test('objects of a `kind: List` may omit fields that have defaults', async () => {
  const items = [
    applicationManifest('e2e-listed', { processes: [{ name: 'web', port: 3000 }] }),
    remoteSyncManifest('e2e-listed', { build: {} }),
  ]
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  const answer = await platform.kubectl('dave', ['apply', '--dry-run=server', '-f', '-'], list)
  expect(answer).toMatchObject({ code: 0 })
  expect(answer.output).toMatch(/e2e-listed created \(server dry run\)\n.*e2e-listed created/)
})

/** What the audit log has about objects of this name: other work of the platform goes on meanwhile. */
async function auditedAbout(name: string): Promise<readonly string[]> {
  const answer = await platform.sekisho('ada', ['audit', 'list', '--limit', '1000', '-o', 'json'])
  expect(answer).toMatchObject({ code: 0 })
  const entries = JSON.parse(answer.output) as readonly object[]
  return entries.map(entry => JSON.stringify(entry)).filter(text => text.includes(name))
}

test('`kubectl apply --dry-run=server` fills in the requester, and creates no object, grant or audit record', async () => {
  const name = `e2e-dry-${Date.now().toString(36)}`
  const answer = await platform.kubectl(
    'dave',
    ['apply', '--dry-run=server', '-o', 'json', '-f', '-'],
    JSON.stringify(remoteSyncManifest(name)),
  )
  expect(answer).toMatchObject({ code: 0 })
  expect(JSON.parse(answer.output).spec).toMatchObject({
    requestedBy: 'github|github.localhost|1002',
    build: { strategy: 'Buildpacks' },
  })
  expect(await find(platform.admin, `remotesync/${name}`)).toBeUndefined()
  expect(await find(platform.admin, `repositorygrant/remotesync-${name}`)).toBeUndefined()
  const grant = {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'RepositoryGrant',
    metadata: { name, namespace: 'acme' },
    spec: {
      installation: 'github',
      repositories: ['acme/shop'],
      permissions: { contents: 'read' },
      subjects: [{ kind: 'ServiceAccount', name: 'default' }],
      reason: 'a dry run',
    },
  }
  expect(await platform.kubectl('dave', ['apply', '--dry-run=server', '-f', '-'], JSON.stringify(grant))).toMatchObject({
    code: 0,
  })
  expect(await find(platform.admin, `repositorygrant/${name}`)).toBeUndefined()
  expect(await auditedAbout(name)).toEqual([])
})
