// What the Secret of a build holds, and whose values it never takes. test/integration/app-secret.test.ts does the same on a
// real API server.
import { expect, test } from 'vitest'
import { buildSecretName, createBuildSecrets } from './build-secrets.ts'

const owner = { apiVersion: 'kpack.io/v1alpha2', kind: 'Build', name: 'shop-1', uid: 'uid-1' }
const request = { key: { namespace: 'acme-build', name: 'shop-1' }, namespace: 'acme', owner }
const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** The Secret `appsecret-<name>` as the AppSecret controller keeps it; with another controller it is somebody's. */
function kept(name: string, data: Readonly<Record<string, string>>, controller = name): object {
  const ownerReferences = [
    { apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'AppSecret', name: controller, uid: 'u', controller: true },
  ]
  return { metadata: { name: `appsecret-${name}`, namespace: 'acme', ownerReferences }, data }
}

function buildSecrets(...secrets: readonly object[]) {
  const applied: object[] = []
  const client = {
    get: async (_type: object, { namespace, name }: { namespace?: string; name: string }) =>
      secrets.find(secret => {
        const { metadata } = secret as { metadata: { name: string; namespace: string } }
        return metadata.name === name && metadata.namespace === namespace
      }),
    apply: async (_type: object, object: object) => void applied.push(object),
    delete: async () => {},
  }
  return { applied, secrets: createBuildSecrets({ client: client as never }) }
}

test('of equal keys the later AppSecret counts, and the Secret ends with the build', async () => {
  const { applied, secrets } = buildSecrets(
    kept('npm', { NPM_TOKEN: base64('1'), URL: base64('a') }),
    kept('maven', { URL: base64('b') }),
  )
  const names = ['npm', 'maven']
  expect(await secrets.provide({ ...request, names, entries: { type: 'sekisho' } })).toEqual({
    kind: 'provided',
    secretName: buildSecretName('shop-1'),
    keys: ['NPM_TOKEN', 'URL'],
  })
  expect(applied).toEqual([
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        namespace: 'acme-build',
        name: 'build-secrets-shop-1',
        labels: { 'app.kubernetes.io/managed-by': 'sekisho' },
        ownerReferences: [owner],
      },
      type: 'Opaque',
      data: { type: base64('sekisho'), NPM_TOKEN: base64('1'), URL: base64('b') },
    },
  ])
})

test('an AppSecret chooses the type of its service binding, as buildpacks of others ask for', async () => {
  const { applied, secrets } = buildSecrets(kept('maven', { type: base64('maven'), settings: base64('x') }))
  await secrets.provide({ ...request, names: ['maven'], entries: { type: 'sekisho' } })
  expect(applied).toMatchObject([{ data: { type: base64('maven') } }])
})

test.each([
  ['one that does not exist', []],
  ['a Secret of that name that no AppSecret controls', [{ metadata: { name: 'appsecret-npm', namespace: 'acme' }, data: {} }]],
  ['a Secret of another AppSecret', [kept('npm', { A: base64('1') }, 'other')]],
])('nothing is written for %s', async (_what, existing: readonly object[]) => {
  const { applied, secrets } = buildSecrets(...existing)
  expect(await secrets.provide({ ...request, names: ['npm'] })).toEqual({
    kind: 'missing',
    message: expect.stringMatching(/no AppSecret npm with values: create it by `sekisho secrets set npm <KEY> --no-attach`/),
  })
  expect(applied).toEqual([])
})
