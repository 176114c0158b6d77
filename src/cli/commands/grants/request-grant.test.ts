// What `sekisho grants request` sends, what it says about what comes next, and who is told what to do.
import { describe, expect, test } from 'vitest'
import { grantDeliveries } from '../../../api/github/repository-grant/delivery.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import type { KubeObject, ResourceType } from '../../../api/resource.ts'
import { grantSubjects, permissionLevels, repositoryNames } from '../../argument-parsers.ts'
import { deliveryNames } from '../../program/oversight/grants.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { grantsRequest, nextText, type RequestOptions } from './request-grant.ts'

const options: RequestOptions = {
  repository: ['acme/shop'],
  permission: [['contents', 'read']],
  for: [{ kind: 'Application', name: 'web' }],
  reason: 'it reads its templates',
  output: 'table',
}

function world(given: { readonly installations?: readonly string[]; readonly decided?: object } = {}) {
  const { installations = ['github'], decided } = given
  const sent: { readonly object: RepositoryGrant; readonly dryRun: boolean }[] = []
  let output = ''
  const stored = (): RepositoryGrant => {
    const { object } = sent.at(-1) ?? expect.fail('nothing was sent')
    return { ...object, metadata: { ...object.metadata, uid: 'u' }, ...(decided && { status: decided }) }
  }
  const client = {
    list: async () => installations.map(name => ({ metadata: { name } })),
    async create(_: ResourceType, object: KubeObject, { dryRun = false }: { readonly dryRun?: boolean }) {
      sent.push({ object: object as RepositoryGrant, dryRun })
      return { ...object, metadata: { ...object.metadata, uid: 'u' } }
    },
    snapshot: async () => ({ items: [stored()], resourceVersion: '1' }),
  }
  const terminal = {
    say: () => {},
    result: (text: string) => {
      output += `${text}\n`
    },
  }
  const context = { cluster: { client, namespace: 'acme' }, terminal, clock: { now: () => new Date() } }
  return { context: context as unknown as ClusterContext, sent, said: () => output }
}

describe('a request', () => {
  test('is one RepositoryGrant with what the flags say, and the defaults of the API server', async () => {
    const { context, sent, said } = world()
    await grantsRequest(context, options)
    expect(sent).toEqual([
      {
        dryRun: false,
        object: {
          apiVersion: 'github.sekisho.dev/v1alpha1',
          kind: 'RepositoryGrant',
          metadata: { name: 'web-reads-shop', namespace: 'acme' },
          spec: {
            installation: 'github',
            repositories: ['acme/shop'],
            permissions: { contents: 'read' },
            subjects: [{ kind: 'Application', name: 'web' }],
            reason: 'it reads its templates',
          },
        },
      },
    ])
    expect(said()).toContain('not decided yet: sekisho grants explain web-reads-shop')
  })

  test('has what was given instead, and a name that is one', async () => {
    const { context, sent } = world({ installations: [] })
    const more = { installation: 'other', delivery: 'GitProxy', lifetime: 604_800 } as const
    const wide = { permission: [['contents', 'write']], repository: [`acme/${'Very_Long.Name'.repeat(6)}`] } as const
    await grantsRequest(context, { ...options, ...more, ...wide })
    const [{ object } = expect.fail('nothing was sent')] = sent
    expect(object.spec).toMatchObject({ installation: 'other', delivery: 'GitProxy', lifetimeSeconds: 604_800 })
    expect(object.metadata.name).toMatch(/^web-writes-very-long-name[-a-z0-9]*$/)
    expect(object.metadata.name.length).toBeLessThanOrEqual(63)
  })

  test('of a namespace with none or several Installations says what to do, and sends nothing', async () => {
    for (const [installations, cure] of [
      [[], 'an owner of the GitHub account onboards it'],
      [['github', 'other'], 'choose one with --installation: github, other'],
    ] as const) {
      const { context, sent } = world({ installations })
      await expect(grantsRequest(context, options)).rejects.toThrow(cure)
      expect(sent).toEqual([])
    }
  })

  test('that is a dry run stores nothing, waits for nothing, and prints a manifest', async () => {
    const { context, sent, said } = world()
    await grantsRequest(context, { ...options, dryRun: true, wait: true })
    await grantsRequest(context, { ...options, dryRun: true, output: 'yaml' })
    expect(sent.map(({ dryRun }) => dryRun)).toEqual([true, true])
    expect(said()).toContain('would request web-reads-shop: contents: read on acme/shop for Application web (dry run)')
    expect(said()).toContain('kind: RepositoryGrant\nmetadata:\n  name: web-reads-shop\n  namespace: acme\n')
  })

  test('waits until it is decided, and gives programs the same as grants explain', async () => {
    const { context, said } = world({ decided: { decision: 'Waiting', approvals: { required: 2, given: 0 } } })
    await grantsRequest(context, { ...options, wait: true, output: 'json' }, 'own')
    expect(JSON.parse(said())).toMatchObject({ name: 'own', decision: 'Waiting', approvals: { required: 2 }, dryRun: false })
  })
})

test.each([
  ['Approved', 'approved until 2026-07-01: all is well'],
  ['Waiting', 'An admin of the tenant who did not request it answers, on the page /tenants/acme/grants'],
  ['Denied', 'kubectl delete repositorygrant web'],
])('of one that is %s it says what comes next', (decision, part) => {
  const conditions = [{ type: 'Ready', message: 'all is well' }]
  const metadata = { name: 'web', namespace: 'acme' }
  const spec = { repositories: ['acme/shop'], permissions: { contents: 'read' }, subjects: [] }
  const text = nextText({
    metadata,
    spec,
    status: { decision, expiresAt: '2026-07-01', conditions },
  } as unknown as RepositoryGrant)
  expect(text).toContain(part)
  expect(text).toContain('all is well')
})

test('arguments that say nothing are refused before anything is sent', () => {
  expect(permissionLevels('contents=read', [['issues', 'write']])).toEqual([
    ['issues', 'write'],
    ['contents', 'read'],
  ])
  expect(grantSubjects('ServiceAccount/ci')).toEqual([{ kind: 'ServiceAccount', name: 'ci' }])
  expect(repositoryNames('acme/shop', ['acme/web'])).toEqual(['acme/web', 'acme/shop'])
  for (const text of ['contents', 'contents=none', 'contents=read,write', '__proto__', 'a=read=write'])
    expect(() => permissionLevels(text), text).toThrow('such as contents=read')
  expect(() => permissionLevels('contents=read', [['contents', 'write']])).toThrow('given twice')
  for (const text of ['web', 'RemoteSync/shop', 'Application/', 'Application/a/b', 'ServiceAccount/A'])
    expect(() => grantSubjects(text), text).toThrow('such as Application/web')
  for (const text of ['shop', 'acme/shop/x', 'acme/*', '../x', 'acme/'])
    expect(() => repositoryNames(text), text).toThrow('owner/name')
})

test('the deliveries that completion offers are those of the kind', () => {
  expect(deliveryNames.toSorted()).toEqual(grantDeliveries.toSorted())
})
