// What an image of a tenant may make the platform parse.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { keepingLabels, readImageLabels } from './image-labels.ts'
import type { RegistryReader } from './registry-reader.ts'

function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

/** A registry with one image of this configuration. */
function image(configuration: string): { readonly read: RegistryReader; readonly name: string } {
  const manifest = JSON.stringify({ config: { digest: digestOf(configuration) } })
  const read: RegistryReader = async ({ path }) => {
    const text = path.startsWith('manifests/') ? manifest : configuration
    return { kind: 'answered', status: 200, bytes: Buffer.from(text) }
  }
  return { read, name: `registry.example.com/acme/shop@${digestOf(manifest)}` }
}

test('the labels of a configuration are read, and one of a million levels is refused before it is parsed', async () => {
  const plain = image(JSON.stringify({ config: { Labels: { a: 'b' } } }))
  expect(await readImageLabels(plain.read, plain.name)).toMatchObject({ kind: 'labels', labels: { a: 'b' } })
  const deep = image(`{"config":{"Labels":{"a":"b"}},"more":${'['.repeat(1e6)}${']'.repeat(1e6)}}`)
  expect(await readImageLabels(deep.read, deep.name)).toEqual({
    kind: 'unreadable',
    message: 'its blobs are nested too deeply',
    permanent: true,
  })
})

test('the entry point and the TCP ports are read, also through an index of images for several platforms', async () => {
  const configuration = JSON.stringify({
    config: {
      Entrypoint: ['/cnb/process/web'],
      Cmd: ['--fast'],
      ExposedPorts: { '9090/tcp': {}, '80': {}, '53/udp': {}, '70000/tcp': {} },
    },
  })
  const manifest = JSON.stringify({ config: { digest: digestOf(configuration) } })
  const platforms = [
    { digest: digestOf('another'), platform: { os: 'windows' } },
    { digest: digestOf(manifest), platform: { os: 'linux' } },
  ]
  const index = JSON.stringify({ mediaType: 'application/vnd.oci.image.index.v1+json', manifests: platforms })
  const contents = new Map([index, manifest, configuration].map(text => [digestOf(text), text]))
  const read: RegistryReader = async ({ path }) => {
    const text = contents.get(path.split('/')[1] ?? '')
    return { kind: 'answered', status: text === undefined ? 404 : 200, bytes: text === undefined ? undefined : Buffer.from(text) }
  }
  expect(await readImageLabels(read, `registry.example.com/acme/shop@${digestOf(index)}`)).toEqual({
    kind: 'labels',
    labels: {},
    entryPoint: ['/cnb/process/web', '--fast'],
    ports: [80, 9090],
  })
})

test.each([
  [['PATH=/bin', 'CNB_USER_ID=1001', 'CNB_GROUP_ID=1000'], { user: 1001, group: 1000 }],
  [['CNB_USER_ID=0', 'CNB_GROUP_ID=1000'], undefined],
  [['CNB_USER_ID=1001'], undefined],
  [['CNB_USER_ID=one', 'CNB_GROUP_ID=1e9'], undefined],
])('the user of the lifecycle is read from %j, and nothing else of the environment', async (Env, lifecycleUser) => {
  const { read, name } = image(JSON.stringify({ config: { Env: [...Env, 'TOKEN=secret'] } }))
  const answer = await readImageLabels(read, name)
  expect(answer).toEqual({ kind: 'labels', labels: {}, entryPoint: [], ports: [], ...(lifecycleUser && { lifecycleUser }) })
})

test('an image is read once, and again after a failure', async () => {
  let reads = 0
  const answers = [
    { kind: 'unreadable', message: 'away', permanent: false } as const,
    { kind: 'labels', labels: { a: 'b' }, entryPoint: [], ports: [] } as const,
  ]
  const labelsOf = keepingLabels(async () => answers[Math.min(reads++, 1)] ?? expect.fail())
  expect(await labelsOf('one')).toEqual(answers[0])
  expect(await labelsOf('one')).toEqual(answers[1])
  expect(await labelsOf('one')).toEqual(answers[1])
  expect(reads).toBe(2)
})
