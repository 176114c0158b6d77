// `sekisho grants explain` of a grant that is delivered as a Secret: whether the token is there, why not, and what to do.
import { expect, test } from 'vitest'
import type { ResourceType } from '../../../api/resource.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { grantsExplain } from './show-grants.ts'

type Said = { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }

const ready: Said = { type: 'Ready', status: 'True', reason: 'Granted', message: 'allowed' }

async function explained(delivery: string, conditions: readonly Said[], output: 'table' | 'json' = 'table'): Promise<string> {
  const spec = {
    repositories: ['acme/shop'],
    permissions: { contents: 'read' },
    subjects: [{ kind: 'ServiceAccount', name: 'flux' }],
    delivery,
    requestedBy: 'github|github.test|1002',
    reason: 'flux reads',
  }
  const metadata = { name: 'shop-token', namespace: 'acme', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' }
  const grant = { kind: 'RepositoryGrant', metadata, spec, status: { decision: 'Approved', conditions } }
  const client = {
    get: async () => grant,
    list: async ({ kind }: ResourceType) => (kind === 'RepositoryGrant' ? [grant] : []),
  }
  let said = ''
  const terminal = {
    say: () => {},
    result: (text: string) => {
      said += text
    },
  }
  await grantsExplain({ cluster: { client, namespace: 'acme' }, terminal } as unknown as ClusterContext, { output }, 'shop-token')
  return said
}

const taken: Said = { type: 'Delivered', status: 'False', reason: 'NameTaken', message: 'Secret ghtok-flux.shop-token exists' }

test('the reason of the condition Delivered, and the cure', async () => {
  const said = await explained('Secret', [ready, taken])
  expect(said).toContain(
    '  secret:  NameTaken: Secret ghtok-flux.shop-token exists\n  cure:    a platform admin deletes the Secret',
  )
  const { delivered } = JSON.parse(await explained('Secret', [ready, taken], 'json')) as { readonly delivered: object }
  expect(delivered).toMatchObject({ ready: false, reason: 'NameTaken', cure: expect.stringContaining('platform admin') })
})

test('a Secret that is written needs no cure, and one that nobody has looked at yet is said to be missing', async () => {
  const written: Said = { type: 'Delivered', status: 'True', reason: 'SecretWritten', message: 'a token is in the Secret x' }
  const said = await explained('Secret', [ready, written])
  expect([said.includes('  secret:  SecretWritten: a token is in the Secret x'), said.includes('cure:')]).toEqual([true, false])
  expect(await explained('Secret', [ready])).toContain('  secret:  not made yet')
})

test('a grant with another delivery has no such line', async () => {
  expect(await explained('TokenEndpoint', [ready])).not.toContain('secret:')
})
