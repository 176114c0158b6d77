// Which builders a pod of ours can build with.
import { expect, test } from 'vitest'
import type { LabelAnswer } from '../kpack/image-commit.ts'
import { knownBuilder } from './known-builder.ts'

const builder = {
  configured: 'sekisho',
  image: `registry.example.com/cnb/builder@sha256:${'a'.repeat(64)}`,
  stack: 'base',
  runImage: `registry.example.com/cnb/run@sha256:${'b'.repeat(64)}`,
}
const lifecycleUser = { user: 1001, group: 1000 }
const apis = (platform: readonly string[], buildpack: readonly string[]): string =>
  JSON.stringify({ platform: { deprecated: [], supported: platform }, buildpack: { deprecated: [], supported: buildpack } })

function image(
  buildpacks: Readonly<Record<string, object>>,
  more: object = { lifecycleUser },
  platform = ['0.7', '0.9'],
): LabelAnswer {
  const labels = {
    'io.buildpacks.buildpack.layers': JSON.stringify(buildpacks),
    'io.buildpacks.lifecycle.apis': apis(platform, []),
  }
  return { kind: 'labels', labels, ...more }
}

const phases: LabelAnswer = { kind: 'labels', labels: { 'io.buildpacks.lifecycle.apis': apis(['0.9'], ['0.10', '0.11']) } }
const two = { 'sekisho/node': { '0.2.0': { api: '0.10' } }, 'platform/prepare': { '0.1.0': { api: '0.11' } } }

test('a builder is known by its ClusterBuilder and its image', () => {
  expect(knownBuilder(builder, image(two), phases)).toEqual({
    ...builder,
    ...lifecycleUser,
    buildpacks: ['platform/prepare', 'sekisho/node'],
  })
})

const unreadable: LabelAnswer = { kind: 'unreadable', message: 'it is not in the registry', permanent: true }
const label = 'io.buildpacks.buildpack.layers'

test.each([
  ['no run image by digest', { builder: { ...builder, runImage: 'registry.example.com/cnb/run:1' } }, 'run image'],
  ['an image only', { builder: { configured: 'x', image: 'docker.io/x/builder:1' } }, 'run image'],
  ['an image that cannot be read', { image: unreadable }, 'it is not in the registry'],
  ['an image without a user', { image: image(two, {}) }, 'CNB_USER_ID'],
  ['a lifecycle that is too new', { image: image(two, { lifecycleUser }, ['0.12']) }, 'platform API 0.9'],
  ['no buildpacks', { image: image({}) }, label],
  ['a buildpack whose id leads out of its folder', { image: image({ ...two, '..': {} }) }, label],
  ['an id of two words', { image: image({ 'a b': {} }) }, label],
  ['a buildpack that is newer than the phases', { image: image({ x: { '1': { api: '0.12' } } }) }, 'buildpack API 0.12'],
  ['phases that cannot be read', { phases: unreadable }, 'SEKISHO_BUILDPACKS_IMAGE'],
])('%s is left to kpack', (_what, given, words) => {
  const all = { builder, image: image(two), phases, ...given }
  expect(knownBuilder(all.builder, all.image, all.phases)).toContain(words)
})
