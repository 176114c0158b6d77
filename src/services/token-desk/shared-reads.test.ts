// Which reads are shared: equal ones that were asked for before the read began.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { halt } from '../../api/github/halt.ts'
import { installation } from '../../api/github/installation.ts'
import { repositoryGrant } from '../../api/github/repository-grant.ts'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import { createKubeClient } from '../../kube/client/kube-client.ts'
import { systemClock } from '../../lib/clock.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { waitUntil } from '../../lib/waiting/wait-until.ts'
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

/** A real client of an API server that does not answer requests whose path ends so, until it is let go on. */
async function hangingServer(path: string) {
  const asked: string[] = []
  let hangs = true
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    if (hangs && new URL(request.url ?? '', 'http://x').pathname.endsWith(path)) return
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items: [] }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const connection = { server: new URL(`http://127.0.0.1:${port}`), tls: {}, authorization: async () => new SecretString('x') }
  const client = createKubeClient({ connection, component: 'unit', clock: systemClock, random: () => 0 })
  onTestFinished(async () => {
    await client.close()
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  const letGo = (): void => {
    hangs = false
  }
  return { asked, shared: createSharedReads(client, 200), letGo }
}

const outcomes = (reads: readonly Promise<unknown>[]) =>
  Promise.all(
    reads.map(read =>
      read.then(
        () => 'answered',
        ({ code, retryAfterSeconds }) => [code, retryAfterSeconds],
      ),
    ),
  )

test('a list of Halts that hangs is refused to all who wait for it, retryable, and the next one reads anew', async () => {
  const { asked, shared, letGo } = await hangingServer('/namespaces/sekisho-system/halts')
  const list = (namespace: string) => shared.list(halt, { namespace })
  const [first, meanwhile] = [list('sekisho-system'), [list('sekisho-system'), list('sekisho-system')]]
  expect(await outcomes([first])).toEqual([['unavailable', 5]])
  expect(await outcomes([...meanwhile, list('acme')])).toEqual([['unavailable', 5], ['unavailable', 5], 'answered'])
  letGo()
  expect(await list('sekisho-system')).toEqual([])
  expect(asked.filter(url => url.includes('sekisho-system'))).toHaveLength(3)
})

test('who asked while a read hung is answered by the next one when the server answers again', async () => {
  const { asked, shared, letGo } = await hangingServer('/halts')
  const [first, second] = [shared.list(halt, { namespace: 'acme' }), shared.list(halt, { namespace: 'acme' })]
  await waitUntil('the server was asked', () => asked.length === 1)
  letGo()
  expect(await outcomes([first, second])).toEqual([['unavailable', 5], 'answered'])
})

test('what the server refuses is not called late', async () => {
  const refused = async () => Promise.reject(new Error('forbidden'))
  const shared = createSharedReads({ get: refused, list: refused } as never, 50)
  await expect(shared.list(halt, { namespace: 'acme' })).rejects.toThrow('forbidden')
})
