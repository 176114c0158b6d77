// What a Release says about where its change came from.
import { expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { promotedAnnotation } from '../../../api/names.ts'
import { changedBy, changeOf } from './desired-release.ts'

const image = 'registry.example.com/acme/shop@sha256:1'
const requestedBy = 'github|github.com|7'

function live(
  managers: readonly (readonly [manager: string, time: string, subresource?: string])[],
  commit?: string,
): Application {
  const managedFields = managers.map(([manager, time, subresource]) => ({ manager, time, subresource }))
  return { metadata: { name: 'shop', managedFields }, spec: { image, commit } } as unknown as Application
}

function sync(name: string, status: object): RemoteSync {
  return { metadata: { name }, spec: { requestedBy }, status } as unknown as RemoteSync
}

const byKubectl = live([
  ['sekisho.dev/application', '2026-01-03T00:00:00Z'],
  ['kubectl', '2026-01-02T00:00:00Z'],
  ['sekisho-cli', '2026-01-01T00:00:00Z'],
  ['someone', '2026-01-04T00:00:00Z', 'status'],
])

test('a change of the spec was made by the last field manager that is not the platform’s', () => {
  expect(changedBy(byKubectl, [], 'SpecChanged')).toEqual({ kind: 'FieldManager', name: 'kubectl' })
  expect(changedBy(live([]), [], 'SpecChanged')).toEqual({ kind: 'FieldManager', name: 'unknown' })
})

test.each([
  ['that has the image', { image, imageCommit: 'c1' }],
  [
    'that has not yet written its status after it set the image',
    { image: 'earlier', imageCommit: 'c0', build: { commit: 'c1' } },
  ],
])('a new commit was set by the RemoteSync %s', (_what, status) => {
  const syncs = [sync('other', { build: { commit: 'c9' } }), sync('shop', status)]
  const by = changedBy(live([['sekisho-cli', '2026-01-01T00:00:00Z']], 'c1'), syncs, 'NewCommit')
  expect(by).toEqual({ kind: 'RemoteSync', name: 'shop', requestedBy })
})

test('an image without a commit was not set by a RemoteSync', () => {
  expect(changedBy(byKubectl, [sync('shop', { image, build: {} })], 'NewImage')).toMatchObject({ kind: 'FieldManager' })
})

/** Its image was set by these field managers. */
function imageBy(...managers: readonly string[]): Application {
  const managedFields = managers.map(manager => ({ manager, fieldsV1: { 'f:spec': { 'f:image': {} } } }))
  return { metadata: { name: 'shop', managedFields }, spec: { image, commit: 'c1' } } as unknown as Application
}

test('an image that was promoted was set by the only RemoteSync, unless somebody else set it too', () => {
  const ours = 'sekisho.dev/remote-sync'
  const by = (...managers: readonly string[]) => changedBy(imageBy(...managers), [sync('shop', {})], 'Promoted')
  expect(by(ours)).toMatchObject({ kind: 'RemoteSync', name: 'shop' })
  expect(by(ours, 'kubectl-edit')).toEqual({ kind: 'FieldManager', name: 'kubectl-edit' })
  const two = [sync('shop', {}), sync('other', {})]
  expect(changedBy(imageBy(ours), two, 'Promoted')).toMatchObject({ kind: 'FieldManager' })
  expect(changedBy(imageBy(ours), [sync('shop', {})], 'SpecChanged')).toMatchObject({ kind: 'FieldManager' })
})

test('an image was promoted when the annotation names its commit', () => {
  const annotated = (commit: string): Application => {
    const found = live([], 'c1')
    return { ...found, metadata: { ...found.metadata, annotations: { [promotedAnnotation]: commit } } }
  }
  expect(changeOf(annotated('c1'), 'NewCommit')).toBe('Promoted')
  expect(changeOf(annotated('c1'), 'SpecChanged')).toBe('SpecChanged')
  expect(changeOf(annotated('c0'), 'NewCommit')).toBe('NewCommit')
  expect(changeOf(live([], 'c1'), 'NewImage')).toBe('NewImage')
})
