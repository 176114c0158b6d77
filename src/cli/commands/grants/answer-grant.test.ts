// What stands after an answer, one of another kind, the same again and taking it back; and who is refused before anything is
// sent.
import { describe, expect, test } from 'vitest'
import type { GrantApproval } from '../../../api/github/grant-approval.ts'
import type { KubeObject, ResourceType } from '../../../api/resource.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { grantsApprove, grantsDeny, grantsWithdraw } from './answer-grant.ts'
import { grantsExplain, grantsList } from './show-grants.ts'

const [olivia, dave] = ['github|github.test|1001', 'github|github.test|1002']
const grant = {
  kind: 'RepositoryGrant',
  metadata: { name: 'publish', namespace: 'acme', uid: 'grant-uid', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: {
    repositories: ['acme/shop'],
    permissions: { contents: 'read' },
    subjects: [{ kind: 'ServiceAccount', name: 'release' }],
    delivery: 'TokenEndpoint',
    requestedBy: dave,
    reason: 'tags',
  },
  status: {
    decision: 'Waiting',
    conditions: [{ type: 'Ready', status: 'False', reason: 'WaitingForApproval', message: 'needs the approval of an admin' }],
  },
}
const approved = { ...grant, metadata: { ...grant.metadata, name: 'approved' }, status: { decision: 'Approved' } }

function world(user: string) {
  const stored = new Map<string, GrantApproval>()
  const sent: string[] = []
  let output = ''
  const client = {
    async get(_: ResourceType, { name }: { readonly name: string }) {
      return name === 'publish' ? grant : stored.get(name)
    },
    async list({ kind }: ResourceType) {
      return kind === 'RepositoryGrant' ? [approved, grant] : [...stored.values()]
    },
    async create(type: ResourceType, object: KubeObject, { dryRun = false }: { readonly dryRun?: boolean }) {
      if (type.kind === 'SelfSubjectReview') return { status: { userInfo: { username: user } } }
      sent.push(`create ${(object as GrantApproval).spec.answer}${dryRun ? ' (dry run)' : ''}`)
      const made = { ...object, metadata: { ...object.metadata, name: `made-${sent.length}` } } as GrantApproval
      if (!dryRun) stored.set(made.metadata.name, { ...made, spec: { ...made.spec, requestedBy: user } })
      return made
    },
    async delete(_: ResourceType, { name }: { readonly name: string }, { dryRun = false }: { readonly dryRun?: boolean }) {
      sent.push(`delete${dryRun ? ' (dry run)' : ''}`)
      if (!dryRun) stored.delete(name)
    },
  }
  const terminal = {
    say: () => {},
    result: (text: string) => {
      output += `${text}\n`
    },
  }
  const clock = { now: () => new Date('2026-01-01T00:02:00Z') }
  const context = { cluster: { client, namespace: 'acme' }, terminal, clock } as unknown as ClusterContext
  return { context, sent, stored, said: () => output }
}

/** Under any name: whose answer it is counts. */
const ofDave = {
  metadata: { name: 'of-dave' },
  spec: { grant: { name: 'publish', uid: 'grant-uid' }, answer: 'Deny', requestedBy: dave },
} as unknown as GrantApproval
const options = { output: 'table', reason: 'the release needs it', uid: 'grant-uid' } as const

describe('an answer', () => {
  test('is one for each person, whatever they answered before', async () => {
    const { context, sent, stored } = world(olivia)
    stored.set('of-dave', ofDave)
    await grantsApprove(context, options, 'publish')
    await grantsApprove(context, options, 'publish')
    expect(sent).toEqual(['create Approve', 'create Approve', 'delete'])
    await grantsDeny(context, options, 'publish')
    expect(sent.slice(3)).toEqual(['create Deny', 'delete'])
    expect(stored.get('of-dave')).toBe(ofDave)
    stored.delete('of-dave')
    expect([...stored.values()].map(({ spec }) => [spec.grant, spec.answer, spec.requestedBy])).toEqual([
      [{ name: 'publish', uid: 'grant-uid' }, 'Deny', olivia],
    ])
    await grantsWithdraw(context, options, 'publish')
    expect(stored.size).toBe(0)
    await expect(grantsWithdraw(context, options, 'publish')).rejects.toThrow('you have not answered publish')
  })

  test('of the requester is refused before anything is sent', async () => {
    const { context, sent } = world(dave)
    await expect(grantsApprove(context, options, 'publish')).rejects.toThrow('another admin of the tenant')
    await expect(grantsDeny(context, options, 'publish')).rejects.toThrow('kubectl delete repositorygrant publish')
    expect(sent).toEqual([])
  })

  test('is for the grant that the person looked at', async () => {
    const { context, sent } = world(olivia)
    await expect(grantsApprove(context, { ...options, uid: 'of-before' }, 'publish')).rejects.toThrow('is another grant')
    expect(sent).toEqual([])
  })

  test('as a dry run is judged, and not stored', async () => {
    const { context, sent, stored, said } = world(olivia)
    await grantsApprove(context, { ...options, dryRun: true }, 'publish')
    expect(sent).toEqual(['create Approve (dry run)'])
    expect(stored.size).toBe(0)
    expect(said()).toContain('would have approved publish: contents: read on acme/shop for ServiceAccount release')
  })
})

test('what waits is listed first, and explained with its answers', async () => {
  const { context, said } = world(olivia)
  await grantsApprove(context, options, 'publish')
  await grantsList(context, { output: 'table' })
  expect(said().indexOf('publish  Waiting')).toBeLessThan(said().indexOf('approved  '))
  const before = said().length
  await grantsList(context, { output: 'json', waiting: true })
  expect(JSON.parse(said().slice(before)).map(({ name }: { readonly name: string }) => name)).toEqual(['publish'])
  await grantsExplain(context, { output: 'table' }, 'publish')
  expect(said()).toContain('needs the approval of an admin')
  expect(said()).toContain(`${olivia}: Approve, which does not count: not looked at yet`)
})

describe('break-glass', () => {
  const created = (stored: ReadonlyMap<string, GrantApproval>) => [...stored.values()].map(({ spec }) => spec)

  test('is an approval of a platform admin, for half an hour or what was asked for', async () => {
    const { context, stored, said } = world('kubernetes-admin')
    await grantsApprove(context, { ...options, breakGlass: true }, 'publish')
    expect(created(stored)).toMatchObject([{ breakGlass: true, lifetimeSeconds: 1800, requestedBy: 'kubernetes-admin' }])
    expect(said()).toContain('approved by break-glass, for 1800 seconds, publish')
    const longer = world('kubernetes-admin')
    await grantsApprove(longer.context, { ...options, breakGlass: true, for: 3600 }, 'publish')
    expect(created(longer.stored)).toMatchObject([{ breakGlass: true, lifetimeSeconds: 3600 }])
  })

  test('is not what an admin of the tenant gives, who may say how long theirs counts', async () => {
    const { context, stored } = world(olivia)
    await grantsApprove(context, options, 'publish')
    expect(created(stored)[0]).not.toHaveProperty('lifetimeSeconds')
    const week = world(olivia)
    await grantsApprove(week.context, { ...options, for: 604_800 }, 'publish')
    expect(created(week.stored)[0]).toMatchObject({ lifetimeSeconds: 604_800 })
    expect(created(week.stored)[0]).not.toHaveProperty('breakGlass')
  })

  test('is for a grant that was looked at, and never for one’s own', async () => {
    const { context, sent } = world(dave)
    await expect(grantsApprove(context, { ...options, breakGlass: true }, 'publish')).rejects.toThrow('another platform admin')
    const other = { ...options, breakGlass: true, uid: 'another' }
    await expect(grantsApprove(context, other, 'publish')).rejects.toThrow('is another grant')
    expect(sent).toEqual([])
  })
})
