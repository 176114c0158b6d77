// Who sees what of a tenant: exactly what RBAC allows, read only after it did; and one answer for everything of which nothing
// may be seen.
import { beforeEach, describe, expect, test } from 'vitest'
import { groups } from '../../api/names.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { AppError } from '../../lib/errors.ts'
import type { AccessQuestion } from '../people/access-reviews.ts'
import { createVisibleTenants, type VisibleTenants, type VisibleTenantsDeps } from './visible-tenants.ts'

const host = 'github.com'
const someone = { subject: `github|${host}|1`, groups: [] }
const owner = { subject: `github|${host}|2`, groups: [groups.owners(host, 7)] }

const named = (name: string, labels = {}) => ({ metadata: { name, namespace: 'acme', uid: `uid-of-${name}`, labels } })
const tenant = (name: string, namespace: string, status = {}): Tenant =>
  ({
    metadata: { name },
    spec: {
      namespace,
      account: { host, id: 7, login: name, type: 'Organization' },
      roles: [{ role: 'admin', subject: { type: 'Owners' } }],
    },
    status,
  }) as unknown as Tenant

/** `verb resource` or `verb resource/name`, of the namespace acme. */
let allowed: Set<string>
let asked: AccessQuestion[]
let read: string[]
let tenants: Tenant[]
let visible: VisibleTenants

const textOf = ({ verb, resource, subresource, name }: AccessQuestion) =>
  `${verb} ${[resource, subresource, name].filter(part => part !== undefined).join('/')}`

function cacheOf(kind: string, items: readonly object[]) {
  return {
    list: (namespace?: string) => {
      read.push(kind)
      return namespace === 'acme' ? items : []
    },
  } as never
}

beforeEach(() => {
  allowed = new Set()
  asked = []
  read = []
  tenants = [tenant('acme', 'acme')]
  const deps: VisibleTenantsDeps = {
    reviews: {
      allows: async (_identity, question) => {
        asked.push(question)
        return (question.namespace ?? 'acme') === 'acme' && allowed.has(textOf(question))
      },
    },
    tenants: {
      addIndex: () => {},
      byIndex: (_name, namespace) => tenants.filter(({ spec }) => spec.namespace === namespace),
      list: () => tenants,
    },
    installations: cacheOf('installations', [named('github')]),
    remoteSyncs: cacheOf('remotesyncs', [
      named('web'),
      named('shop'),
      named('shop-pr-7', { 'sekisho.dev/app-pipeline': 'shop' }),
    ]),
    pipelines: cacheOf('apppipelines', [named('shop')]),
    grants: cacheOf('repositorygrants', [{ ...named('push'), status: { decision: 'Waiting' } }, named('read')]),
    applications: {
      list: async () => {
        read.push('applications')
        return { items: [named('shop') as never], more: false }
      },
      get: async ({ name }) => (name === 'shop' ? (named('shop') as never) : undefined),
      releases: async () => {
        read.push('releases')
        return { items: [], more: false }
      },
    },
    builds: {
      list: async () => {
        read.push('builds')
        return { builds: [], queued: [] }
      },
    },
    services: {
      instances: async () => {
        read.push('serviceinstances')
        return { items: [named('shop-db') as never], more: false }
      },
      buckets: async () => {
        read.push('buckets')
        return { items: [named('pictures') as never], more: false }
      },
    },
    haltOf: () => undefined,
  }
  visible = createVisibleTenants(deps)
})

describe('a tenant', () => {
  test.each([
    ['list applications', 'applications'],
    ['list serviceinstances', 'serviceinstances'],
    ['list buckets', 'buckets'],
    ['list remotesyncs', 'remotesyncs'],
    ['list apppipelines', 'apppipelines'],
    ['list installations', 'installations'],
    ['get remotesyncs/log', 'builds'],
    ['list repositorygrants', 'repositorygrants'],
  ])('shows to whom RBAC allows “%s” that and nothing else', async (right, what) => {
    allowed.add(right)
    const { tenant: _, role, access: __, ...parts } = await visible.find(someone, 'acme')
    expect(read).toEqual([what])
    expect(Object.keys(parts)).toHaveLength(1)
    expect(role).toBeUndefined()
  })

  test('leaves out the RemoteSyncs of previews, and orders by name', async () => {
    allowed.add('list remotesyncs')
    const { remoteSyncs } = await visible.find(someone, 'acme')
    expect(remoteSyncs?.items.map(({ metadata }) => metadata.name)).toEqual(['shop', 'web'])
  })

  test('does not exist for who sees nothing of it, also for who could change something, and nothing is read', async () => {
    allowed = new Set(['patch applications', 'patch apppipelines', 'create grantapprovals'])
    const refused = await visible.find(someone, 'acme').catch((error: unknown) => error)
    const unknown = await visible.find(someone, 'nowhere').catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'not_found' })
    expect((refused as AppError).message).toBe((unknown as AppError).message)
    expect(read).toEqual([])
    // As many questions, so that the time of the answer says nothing.
    expect(asked.filter(({ namespace }) => namespace === 'nowhere').length).toBe(
      asked.filter(({ namespace }) => namespace === 'acme').length,
    )
  })

  test('of a namespace without a Tenant does not exist for who may read everything', async () => {
    tenants = []
    allowed = new Set(['list applications', 'list installations', 'get tenants/acme'])
    await expect(visible.find(someone, 'acme')).rejects.toMatchObject({ code: 'not_found' })
    expect(read).toEqual([])
  })

  test('shows its state to the people that it names, before the namespace and its roles exist', async () => {
    const { role, ...view } = await visible.find(owner, 'acme')
    expect(role).toBe('admin')
    expect(Object.keys(view).sort()).toEqual(['access', 'tenant'])
    expect(read).toEqual([])
    expect(visible.stateOnly(owner, 'acme').role).toBe('admin')
    expect(() => visible.stateOnly(someone, 'acme')).toThrow('there is no such tenant')
  })

  test('is the one that has the namespace, when another names it too', async () => {
    tenants = [tenant('aaa', 'acme'), tenant('acme', 'acme', { namespace: 'acme' })]
    expect((await visible.find(owner, 'acme')).tenant.metadata.name).toBe('acme')
  })
})

describe('an Application', () => {
  test('is shown to who may get it, and its releases to who may list them', async () => {
    allowed.add('get applications/shop')
    expect(await visible.findApplication(someone, 'acme', 'shop')).not.toHaveProperty('releases')
    allowed.add('list releases')
    expect(await visible.findApplication(someone, 'acme', 'shop')).toHaveProperty('releases')
  })

  test.each<[string, string, string, readonly string[]]>([
    ['who may not get it', 'acme', 'shop', ['list applications', 'get applications/web']],
    ['a name that does not exist', 'acme', 'nothing', ['get applications/nothing']],
    ['another namespace', 'kube-system', 'shop', ['get applications/shop']],
  ])('does not exist: %s', async (_what, namespace, name, rights) => {
    allowed = new Set(rights)
    await expect(visible.findApplication(someone, namespace, name)).rejects.toMatchObject({
      code: 'not_found',
      message: 'there is no such Application, or you may not see it (get on applications)',
    })
  })

  test('does not exist in a namespace without a Tenant, for who may read it there', async () => {
    tenants = []
    allowed.add('get applications/shop')
    await expect(visible.findApplication(someone, 'acme', 'shop')).rejects.toMatchObject({ code: 'not_found' })
  })
})

test('all tenants are listed for who may list Tenants, and for nobody else', async () => {
  tenants = [tenant('globex', 'globex'), tenant('acme', 'acme')]
  allowed.add('get tenants')
  await expect(visible.all(someone)).rejects.toMatchObject({ code: 'not_found' })
  allowed.add('list tenants')
  expect((await visible.all(someone)).map(one => one.tenant.metadata.name)).toEqual(['acme', 'globex'])
})

describe('while the API server does not answer', () => {
  const failing = async () => Promise.reject(new KubeError('away', { status: 0, reason: 'Unreachable' }))
  const away = () =>
    createVisibleTenants({
      reviews: { allows: async () => true },
      tenants: { addIndex: () => {}, byIndex: () => tenants, list: () => tenants },
      ...{ installations: cacheOf('x', []), remoteSyncs: cacheOf('x', []), pipelines: cacheOf('x', [named('shop')]) },
      grants: cacheOf('x', []),
      applications: { list: failing, get: failing, releases: failing },
      services: { instances: failing, buckets: failing },
      builds: { list: async () => Promise.reject(new AppError('not_found', 'the right ended')) },
      haltOf: () => undefined,
    })

  test('Applications are said to be unread, never to be none, and what is known is shown', async () => {
    const view = await away().find(someone, 'acme')
    expect(view.applications).toBe('unread')
    expect([view.services, view.buckets]).toEqual(['unread', 'unread'])
    expect(view.pipelines?.items).toHaveLength(1)
    expect(view).not.toHaveProperty('builds')
  })

  test('the page of an Application is an error that says so', async () => {
    await expect(away().findApplication(someone, 'acme', 'shop')).rejects.toMatchObject({ code: 'unavailable' })
  })
})
