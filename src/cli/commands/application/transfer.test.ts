// Whose objects `sekisho transfer` takes over: those that a person wrote. test/integration/command-line.test.ts does it on a
// real API server.
import { describe, expect, test } from 'vitest'
import { appPipelines, remoteSyncs, repositoryGrants } from '../../kubernetes/kinds.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { transfer } from './transfer.ts'

const [me, former] = ['github|github.com|1', 'github|github.com|2']
const owner = (kind: string, name: string) => [
  { apiVersion: 'apps.sekisho.dev/v1alpha1', kind, name, uid: 'u', controller: true },
]
const of = (kind: string, name: string, requestedBy: string, ownerReferences: readonly object[] = []) => ({
  kind,
  metadata: { name, ownerReferences },
  spec: { requestedBy },
})
const syncs = [
  of('RemoteSync', 'main', former),
  of('RemoteSync', 'mine', me),
  of('RemoteSync', 'shop-pr-7', former, owner('AppPipeline', 'shop')),
]
const pipelines = [of('AppPipeline', 'shop', former)]
const grants = [
  {
    ...of('RepositoryGrant', 'of-shop', former, owner('AppPipeline', 'shop')),
    status: { requester: { login: 'dave' }, checkedAt: '2026-01-02' },
  },
  { ...of('RepositoryGrant', 'reader', former), status: { requester: { login: 'dave-before' }, checkedAt: '2026-01-01' } },
]

/** Runs the command; resolves to what was written, and what was said. */
async function run(words: readonly string[], options: { readonly all?: boolean; readonly dryRun?: boolean } = {}) {
  const all = new Map<object, readonly { readonly metadata: { readonly name: string } }[]>([
    [remoteSyncs, syncs],
    [appPipelines, pipelines],
    [repositoryGrants, grants],
  ])
  const [written, lines]: [string[], string[]] = [[], []]
  const client = {
    create: async () => ({ status: { userInfo: { username: me, extra: { 'sekisho.dev/login': ['mia'] } } } }),
    get: async (type: object, { name }: { name: string }) => all.get(type)?.find(({ metadata }) => metadata.name === name),
    list: async (type: object) => all.get(type) ?? [],
    async mergePatch(type: { kind: string }, { name }: { name: string }, patch: object, { dryRun }: { dryRun: boolean }) {
      written.push(`${type.kind}/${name} ${JSON.stringify(patch)}${dryRun ? ' dry run' : ''}`)
    },
  }
  const terminal = { result: (text: string) => void lines.push(text), say: (text: string) => void lines.push(text) }
  const context = { terminal, cluster: { client, namespace: 'acme' } } as unknown as ClusterContext
  await transfer(context, { output: 'table', ...options }, words)
  return { written, text: lines.join('\n') }
}

const patch = JSON.stringify({ spec: { requestedBy: me } })

describe('transfer', () => {
  test('takes over a RemoteSync and an AppPipeline by name', async () => {
    const { written, text } = await run(['remotesync/main', 'apppipeline/shop'])
    expect(written).toEqual([`RemoteSync/main ${patch}`, `AppPipeline/shop ${patch}`])
    expect(text).toContain(`apppipeline/shop now asks GitHub in the name of mia (${me}), before: dave (${former})`)
  })

  test('with --all takes over what people wrote, and leaves the RemoteSyncs of previews to their AppPipeline', async () => {
    const { written } = await run([], { all: true, dryRun: true })
    expect(written).toEqual([`RemoteSync/main ${patch} dry run`, `AppPipeline/shop ${patch} dry run`])
  })

  test.each([
    ['remotesync/shop-pr-7', /is of a preview: sekisho transfer apppipeline\/shop takes over all/],
    ['grant/of-shop', /belongs to AppPipeline shop: sekisho transfer apppipeline\/shop takes over both/],
    ['grant/reader', /never changes: delete it and create it again/],
    ['application/shop', /acts in nobody's name/],
    ['apipe/shpo', /there are shop; did you mean shop/],
  ])('%s is answered with the way that works', async (word, says) => {
    await expect(run([word])).rejects.toThrow(says)
  })
})
