// Making an application, on a cluster in memory: twice is the same as once, and nothing of another one is changed.
import { expect, test } from 'vitest'
import type { ClusterContext } from '../cluster-context.ts'
import { type CreateOptions, create } from './create.ts'
import { nameFrom } from './manifests.ts'

type Stored = {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: Readonly<Record<string, unknown>>
}

function contextOf(...owners: readonly string[]) {
  const stored: Stored[] = []
  const said: string[] = []
  const client = {
    get: async (type: { kind: string }, { name }: { name: string }) =>
      stored.find(one => one.kind === type.kind && one.metadata.name === name),
    list: async ({ kind }: { kind: string }) =>
      kind === 'Installation'
        ? owners.map((login, index) => ({ metadata: { name: `github-${index}` }, spec: { account: { login } } }))
        : stored.filter(one => one.kind === kind),
    create: async (_type: unknown, object: Stored, { dryRun }: { dryRun: boolean }) => void (dryRun || stored.push(object)),
  }
  const terminal = { result: (text: string) => void said.push(text), say: (text: string) => void said.push(text) }
  const context = { terminal, cluster: { client, namespace: 'acme' } } as unknown as ClusterContext
  return { context, stored, said }
}

const options = (more: Partial<CreateOptions> = {}): CreateOptions => ({ repository: 'acme/Shop', output: 'table', ...more })

test('both objects are created once, with the Installation of the owner; again says that nothing was changed', async () => {
  const { context, stored, said } = contextOf('globex', 'Acme')
  await create(context, options())
  expect(stored.map(({ kind, metadata, spec }) => [kind, metadata.name, spec])).toEqual([
    ['Application', 'shop', {}],
    ['RemoteSync', 'shop', { installation: 'github-1', repository: 'acme/Shop', source: {}, build: {}, application: 'shop' }],
  ])
  await create(context, options())
  expect(stored).toHaveLength(2)
  expect(said).toEqual([
    'shop: Application and RemoteSync created. Next: push to acme/Shop, then sekisho builds logs -f shop',
    'shop exists already and is built from acme/Shop: nothing was changed; sekisho status shop shows it',
  ])
})

test('a dry run stores nothing, and -o yaml prints two documents', async () => {
  const { context, stored, said } = contextOf('acme')
  await create(
    context,
    options({ dryRun: true, output: 'yaml', branch: 'main', path: 'apps/shop', dockerfile: 'Dockerfile.web' }),
    'web',
  )
  expect(stored).toEqual([])
  expect(said[0]?.split('\n---\n')).toHaveLength(2)
  for (const text of ['name: web', 'branch: main', 'subPath: apps/shop', 'strategy: Dockerfile']) expect(said[0]).toContain(text)
})

test('what has the name and is something else is left alone', async () => {
  const { context, stored } = contextOf('acme')
  await create(context, options())
  for (const more of [{ repository: 'acme/other' }, { branch: 'next' }, { path: 'docs' }])
    await expect(create(context, options(more), 'shop')).rejects.toMatchObject({ code: 'conflict' })
  expect(stored).toHaveLength(2)
})

test('an Application that a RemoteSync of another name builds among others gets no second one', async () => {
  const { context, stored } = contextOf('acme')
  const spec = { repository: 'acme/shop', application: 'shop', otherApplications: ['worker'] }
  stored.push({ kind: 'RemoteSync', metadata: { name: 'shop' }, spec })
  await expect(create(context, options(), 'worker')).rejects.toMatchObject({
    code: 'conflict',
    message: 'RemoteSync shop builds Application worker: choose another name, or change it with kubectl edit',
  })
  expect(stored).toHaveLength(1)
})

test('without a certain Installation the choice is asked for', async () => {
  await expect(create(contextOf().context, options())).rejects.toThrow('onboards it')
  await expect(create(contextOf('a', 'b').context, options())).rejects.toThrow('name one of github-0 (a), github-1 (b)')
  const only = contextOf('other')
  await create(only.context, options())
  expect(only.stored[1]?.spec['installation']).toBe('github-0')
})

test.each([
  ['My.Shop_2', 'my-shop-2'],
  ['42-shop', 'shop'],
  ['a'.repeat(100), 'a'.repeat(40)],
])('the name of %s is %s', (text, name) => {
  expect(nameFrom(text)).toBe(name)
})

test('a name that cannot be made is asked for', () => {
  for (const text of ['42', '---', 'Größe'.slice(2, 3)]) expect(() => nameFrom(text)).toThrow('give one')
})
