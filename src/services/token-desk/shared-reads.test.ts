// Which reads are shared: equal ones that were asked for before the read began.
import { expect, test } from 'vitest'
import { halt } from '../../api/github/halt.ts'
import { installation } from '../../api/github/installation.ts'
import { repositoryGrant } from '../../api/github/repository-grant.ts'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { createSharedReads } from './shared-reads.ts'

/** An API server whose objects say at which read they were read. */
function countingServer() {
  const reads: string[] = []
  const read = async (text: string): Promise<KubeObject> => {
    reads.push(text)
    const number = reads.length
    await new Promise(resolve => setImmediate(resolve))
    return { apiVersion: 'v1', kind: 'Read', metadata: { name: text, resourceVersion: String(number) } }
  }
  const client = {
    get: ({ kind }: ResourceType, { namespace, name }: { readonly namespace?: string; readonly name: string }) =>
      read(`${kind} ${namespace}/${name}`),
    list: async ({ kind }: ResourceType, { namespace }: { readonly namespace: string }) => [
      await read(`${kind}s of ${namespace}`),
    ],
  }
  return { reads, shared: createSharedReads(client as never) }
}

test('requests that come during a read get the one that begins after it', async () => {
  const { reads, shared } = countingServer()
  const key = { namespace: 'acme', name: 'read-shop' }
  const all = await Promise.all(Array.from({ length: 50 }, () => shared.get(repositoryGrant, key)))
  expect(reads).toHaveLength(2)
  expect(all.map(object => object?.metadata.resourceVersion)).toEqual(['1', ...Array(49).fill('2')])
  expect((await shared.get(repositoryGrant, key))?.metadata.resourceVersion).toBe('3')
})

test('what differs by kind, name or namespace is read apart', async () => {
  const { reads, shared } = countingServer()
  await Promise.all([
    shared.get(repositoryGrant, { namespace: 'acme', name: 'a' }),
    shared.get(repositoryGrant, { namespace: 'acme', name: 'b' }),
    shared.get(repositoryGrant, { namespace: 'globex', name: 'a' }),
    shared.get(installation, { namespace: 'acme', name: 'a' }),
    shared.list(halt, { namespace: 'acme' }),
    shared.list(halt, { namespace: 'globex' }),
  ])
  expect(reads).toEqual([
    'RepositoryGrant acme/a',
    'RepositoryGrant acme/b',
    'RepositoryGrant globex/a',
    'Installation acme/a',
    'Halts of acme',
    'Halts of globex',
  ])
})
