// Who reads which part of the audit log, whatever RBAC may have been told by mistake.
import { describe, expect, test } from 'vitest'
import { movableClock } from '../../../test/fixtures/databases.ts'
import { auditReading } from '../../api/audit/audit-access.ts'
import { groups, labels } from '../../api/names.ts'
import { type Tenant, tenant } from '../../api/tenancy/tenant.ts'
import type { ReviewedAccount } from '../../identity/service-account-token.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { createAccessReviews } from '../people/access-reviews.ts'
import { askedNamespaces, beginningOf, createAuditReaders } from './audit-readers.ts'

const host = 'github.com'
const made = '2026-01-01T00:00:00Z'

function tenantOf(
  name: string,
  more: { readonly at?: string; readonly namespace?: string; readonly has?: boolean } = {},
): Tenant {
  const namespace = more.namespace ?? name
  const status = more.has === true ? { status: { namespace } } : {}
  return {
    ...{ apiVersion: tenant.apiVersion, kind: tenant.kind },
    metadata: { name, creationTimestamp: more.at ?? made },
    spec: {
      account: { host, id: 7, login: name, type: 'Organization' },
      namespace,
      roles: [{ role: 'viewer', subject: { type: 'Members' } }],
    },
    ...status,
  } as Tenant
}

const member = { subject: `github|${host}|1`, groups: [groups.members(host, 7)] }
const stranger = { subject: `github|${host}|2`, groups: [] }
const account = (namespace: string): ReviewedAccount => ({
  ...{ namespace, name: 'siem', uid: 'u', extra: {} },
  username: `system:serviceaccount:${namespace}:siem`,
})
const tenants = [tenantOf('acme'), tenantOf('globex')]

type Spec = {
  readonly user: string
  readonly groups: readonly string[]
  readonly resourceAttributes: { readonly namespace?: string }
}

/** `allowed`: `<user> <namespace, or * for the cluster>`. What belongs to tenants has the label. */
function fixture(allowed: readonly string[], options: { readonly tenants?: readonly Tenant[]; readonly away?: boolean } = {}) {
  const asked: Spec[] = []
  const all = options.tenants ?? tenants
  const refuse = () => {
    if (options.away === true) throw new KubeError('away', { status: 503, reason: 'Unreachable' })
  }
  const kube = {
    create: async (_type: unknown, object: { readonly spec: Spec }) => {
      refuse()
      asked.push(object.spec)
      const { user, resourceAttributes } = object.spec
      const places = ['*', resourceAttributes.namespace ?? '*']
      return { ...object, status: { allowed: places.some(place => allowed.includes(`${user} ${place}`)) } }
    },
    get: async (_type: unknown, { name }: { readonly name: string }) => {
      refuse()
      if (name === 'gone') return undefined
      const owner = all.find(({ spec }) => [spec.namespace, `${spec.namespace}-build`].includes(name))
      return { metadata: { name, labels: owner === undefined ? {} : { [labels.tenant]: owner.metadata.name } } }
    },
  } as unknown as Pick<KubeClient, 'create' | 'get'>
  const clock = movableClock()
  const reviews = createAccessReviews({ kube, clock })
  return { asked, readers: createAuditReaders({ reviews, kube, tenants: { list: () => all }, clock }) }
}

const refused = { code: 'not_found', message: 'there is no audit log that you may read' }

describe('a person', () => {
  test('reads everything where RBAC allows it in the cluster, also of what is no tenant any more', async () => {
    const { readers, asked } = fixture([`${stranger.subject} *`])
    expect(await readers.scope(stranger, undefined)).toEqual({})
    expect(await readers.scope(stranger, 'former')).toEqual({ namespace: 'former' })
    expect(await readers.ofAll(stranger)).toBe(true)
    expect(asked[0]).toEqual({
      user: stranger.subject,
      groups: ['system:authenticated'],
      resourceAttributes: auditReading,
    })
  })

  test('reads what belongs to the present tenant where RBAC allows it in the namespace, whatever the role is called', async () => {
    const { readers } = fixture([`${member.subject} acme`, `${stranger.subject} acme`])
    const scope = { namespace: 'acme', since: new Date(made) }
    expect(await readers.scope(member, undefined)).toEqual(scope)
    expect(await readers.scope(stranger, 'acme')).toEqual(scope)
    await expect(readers.scope(member, 'globex')).rejects.toMatchObject(refused)
    expect(await readers.ofAll(member)).toBe(false)
  })

  test('reads nothing by a role alone, nothing of a namespace without a tenant, and nothing by a subject of another form', async () => {
    const { readers } = fixture([`${member.subject} kube-system`, 'system:admin *', 'system:admin acme'])
    for (const namespace of [undefined, 'acme', 'kube-system', 'none'])
      await expect(readers.scope(member, namespace), namespace).rejects.toMatchObject(refused)
    await expect(readers.scope({ subject: 'system:admin', groups: [] }, 'acme')).rejects.toMatchObject(refused)
  })

  test('names the namespace when there are several, and when there are too many to ask about', async () => {
    const { readers } = fixture([`${member.subject} acme`, `${member.subject} globex`])
    const several = { code: 'invalid_request', message: 'namespace must be one of acme, globex' }
    await expect(readers.scope(member, undefined)).rejects.toMatchObject(several)
    const many = fixture([], { tenants: Array.from({ length: 21 }, (_, index) => tenantOf(`t${index}`)) })
    await expect(many.readers.scope(member, undefined)).rejects.toMatchObject({ code: 'invalid_request' })
    expect(many.asked).toHaveLength(1)
  })
})

describe('a ServiceAccount', () => {
  test('is asked about with the groups that Kubernetes gives to it', async () => {
    const { readers, asked } = fixture(['system:serviceaccount:siem:siem *'])
    expect(await readers.scope(account('siem'), undefined)).toEqual({})
    const groupNames = ['system:serviceaccounts', 'system:serviceaccounts:siem', 'system:authenticated']
    expect(asked).toMatchObject([{ user: 'system:serviceaccount:siem:siem', groups: groupNames }])
  })

  test('of a tenant never reads beyond its namespace, also when it is bound in the cluster or in another namespace', async () => {
    const { readers } = fixture(['acme', 'acme-build'].map(namespace => `system:serviceaccount:${namespace}:siem *`))
    const own = account('acme')
    expect(await readers.ofAll(own)).toBe(false)
    for (const namespace of [undefined, 'acme'])
      expect(await readers.scope(own, namespace)).toEqual({ namespace: 'acme', since: new Date(made) })
    await expect(readers.scope(own, 'globex')).rejects.toMatchObject(refused)
    for (const namespace of [undefined, 'acme', 'globex'])
      await expect(readers.scope(account('acme-build'), namespace), namespace).rejects.toMatchObject(refused)
  })

  test('without a binding reads nothing, in its own namespace neither', async () => {
    const { readers } = fixture([])
    await expect(readers.scope(account('acme'), undefined)).rejects.toMatchObject(refused)
    await expect(readers.scope(account('siem'), undefined)).rejects.toMatchObject(refused)
  })

  test('of a namespace that is not there reads nothing', async () => {
    const { readers } = fixture(['system:serviceaccount:gone:siem *'])
    await expect(readers.scope(account('gone'), undefined)).rejects.toMatchObject({ code: 'unavailable' })
  })
})

test.each([member, account('acme'), account('siem')])('nobody reads anything while the API server is away: %j', async reader => {
  const { readers } = fixture([`${member.subject} *`], { away: true })
  await expect(readers.ofAll(reader)).rejects.toMatchObject({ code: 'unavailable' })
  for (const namespace of [undefined, 'acme'])
    await expect(readers.scope(reader, namespace)).rejects.toMatchObject({ code: 'unavailable' })
})

describe('a namespace begins', () => {
  const later = '2026-02-01T00:00:00Z'
  test.each([
    ['with its tenant', [tenantOf('a')], made],
    ['with the one that has it', [tenantOf('a', { has: true }), tenantOf('b', { namespace: 'a', at: later })], made],
    ['with the youngest when none has it', [tenantOf('a'), tenantOf('b', { namespace: 'a', at: later })], later],
  ])('%s', (_case, list, at) => {
    expect(beginningOf('a', list)).toEqual(new Date(at))
  })

  test('never before, where it is not known', () => {
    expect(beginningOf('a', [])).toBeUndefined()
    expect(beginningOf('a', [{ ...tenantOf('a'), metadata: { name: 'a' } }])).toBeUndefined()
  })
})

test('RBAC is asked once about a namespace that two Tenants name', () => {
  expect(askedNamespaces(member, undefined, [tenantOf('a'), tenantOf('b', { namespace: 'a' })])).toEqual(['a'])
})
