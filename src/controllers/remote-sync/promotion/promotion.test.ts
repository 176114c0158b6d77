// Which images of previews a branch may take, and how long those of deleted previews are known.
import { describe, expect, test } from 'vitest'
import { commit, sync } from '../testing/remote-sync.ts'
import { buildInputs, builtPreview, imageSourceOf, isPromoted } from './built-preview.ts'
import { createRecentPreviews } from './recent-previews.ts'

const tree = 'd'.repeat(40)
const repository = { id: 7, name: 'acme/shop', requested: 'acme/shop' }
const head = { number: 3, headCommit: commit, headRepository: 7, baseBranch: 'main' }
const preview = sync({ source: { pullRequest: 3 } })

describe('what is said of an image that was built', () => {
  test('of a pull request of the repository itself: its files and its build settings', () => {
    const status = { commit, tree, repository, pullRequest: head }
    expect(imageSourceOf(preview, status)).toEqual({ repository: 7, pullRequest: 3, tree, inputs: buildInputs(preview.spec) })
  })

  test.each([
    ['a fork', preview, { pullRequest: { ...head, headRepository: 8 } }],
    ['a fork that was deleted', preview, { pullRequest: { number: 3, headCommit: commit, baseBranch: 'main' } }],
    ['another pull request', preview, { pullRequest: { ...head, number: 4 } }],
    ['a branch', sync(), { pullRequest: head }],
    ['unknown files', preview, { tree: undefined }],
    ['an unknown repository', preview, { repository: undefined }],
  ])('of %s: nothing', (_what, remoteSync, changes) => {
    const { tree: _, ...rest } = { commit, tree, repository, pullRequest: head, ...changes }
    const known = 'tree' in changes ? rest : { ...rest, tree }
    const { repository: of, ...without } = known
    expect(imageSourceOf(remoteSync, of === undefined ? without : { ...without, repository: of })).toBeUndefined()
  })

  test('an image of which nothing is said is not taken', () => {
    expect(builtPreview({ ...preview, status: { image: 'image@1', imageCommit: commit } })).toBeUndefined()
  })
})

test('build settings that do not change the image do not matter; the others do', () => {
  const { build } = sync().spec
  const inputs = (changes: object, subPath?: string) =>
    buildInputs({ ...sync().spec, ...(subPath ? { subPath } : {}), build: { ...build, ...changes } })
  const plain = inputs({})
  expect(inputs({ timeoutSeconds: 60, resources: { memory: '1Gi' } })).toBe(plain)
  const others = [
    { env: [{ name: 'A', value: '1' }] },
    { builder: 'x' },
    { secrets: ['a'] },
    { strategy: 'Dockerfile' },
    { root: '.' },
  ]
  expect(new Set([plain, inputs({}, 'web'), ...others.map(one => inputs(one))]).size).toBe(7)
  expect(inputs({ secrets: ['a', 'b'] })).toBe(inputs({ secrets: ['b', 'a'] }))
})

test('an image is promoted for one commit, and only while the build settings are the same', () => {
  const from = 'c'.repeat(40)
  const status = {
    image: 'image@1',
    imageCommit: from,
    promoted: { commit, from, pullRequest: 3, inputs: buildInputs(sync().spec) },
  }
  expect(isPromoted(sync(), status, commit)).toBe(true)
  expect(isPromoted(sync(), status, from)).toBe(false)
  expect(isPromoted(sync({ subPath: 'web' }), status, commit)).toBe(false)
  expect(isPromoted(sync(), { ...status, imageCommit: commit }, commit)).toBe(false)
})

test('deleted previews are known for an hour, and no namespace displaces those of another', () => {
  let now = 0
  const recent = createRecentPreviews({ now: () => new Date(now) })
  const one = { repository: 7, pullRequest: 3, tree, inputs: 'i', strategy: 'Buildpacks' as const, image: 'image@1', commit }
  recent.remember('acme', 'uid-1', one)
  for (let at = 0; at < 150; at++) recent.remember('globex', `uid-${at}`, one)
  expect(recent.of('acme')).toEqual([one])
  expect(recent.of('globex')).toHaveLength(100)
  expect(recent.of('other')).toEqual([])
  now = 3_600_000
  expect(recent.of('acme')).toEqual([])
})
