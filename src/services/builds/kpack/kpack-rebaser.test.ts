// What a rebase asks of kpack, and what is known about builders.
import { expect, test } from 'vitest'
import { createKpackRebaser, kpackRebaseManifest } from './kpack-rebaser.ts'
import type { ClusterBuilder } from './resources.ts'

const settings = {
  registry: 'registry.example.com/apps',
  clusterBuilder: 'sekisho',
  builders: new Map([
    ['java', 'java-builder'],
    ['own', 'registry.example.com/own-builder:1'],
  ]),
  serviceAccount: 'builder',
  resources: { cpuRequest: '100m', memoryRequest: '128Mi', memoryLimit: '2Gi' },
}
const digest = `sha256:${'a'.repeat(64)}`
const request = {
  key: { namespace: 'acme-build', name: 'shop-rebase-0123456789ab' },
  owner: { kind: 'RemoteSync', namespace: 'acme', name: 'shop', uid: 'uid-1' },
  application: 'shop',
  image: `registry.example.com/apps/acme/shop@${digest}`,
  commit: 'b'.repeat(40),
  stack: 'of-the-build',
}

test('the stack is that of the build, so that kpack itself compares it with that of the builder', () => {
  const builder = { configured: 'sekisho', image: 'builder@sha256:2', stack: 'of-the-builder' }
  expect(kpackRebaseManifest(request, builder, settings).spec).toMatchObject({
    tags: ['registry.example.com/apps/acme/shop:shop-rebase-0123456789ab'],
    lastBuild: { image: request.image, stackId: 'of-the-build' },
    source: { git: { url: 'https://source.invalid/' } },
  })
})

test('a builder is known by its configured name, with stack and run image of its ClusterBuilder', () => {
  const stacks: Readonly<Record<string, { readonly id?: string; readonly runImage?: string }>> = {
    sekisho: { id: 'base', runImage: `registry.example.com/run@${digest}` },
    'java-builder': { id: 'base', runImage: 'registry.example.com/run:latest' },
  }
  const { baseOf } = createKpackRebaser({
    client: { get: () => Promise.reject(new Error('no request')), create: () => Promise.reject(new Error('no request')) },
    clusterBuilders: {
      get: ({ name }) => (stacks[name] ? ({ status: { stack: stacks[name] } } as unknown as ClusterBuilder) : undefined),
    },
    fieldManager: 'test',
    settings,
    tagImage: async () => ({ kind: 'tagged' }),
  })
  expect(baseOf(undefined)).toEqual({ name: 'sekisho', stack: 'base', runImage: digest })
  expect(['java', 'own', 'unknown'].map(baseOf)).toEqual([undefined, undefined, undefined])
})
