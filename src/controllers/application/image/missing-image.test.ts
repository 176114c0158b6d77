// What an Application without an image says of the RemoteSync that builds it.
import { expect, test } from 'vitest'
import { type RemoteSync, remoteSync } from '../../../api/apps/remote-sync.ts'
import { imageStandOf, missingImage } from './missing-image.ts'

type Ready = { readonly status: string; readonly reason: string; readonly message: string }

function sync(ready?: Partial<Ready>, metadata: object = {}): RemoteSync {
  const conditions = ready === undefined ? [] : [{ type: 'Ready', status: 'False', reason: 'Building', message: 'm', ...ready }]
  return {
    metadata: { name: 'shop', namespace: 'acme', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    spec: { application: 'shop' },
    status: { conditions },
  } as unknown as RemoteSync
}

test('only where no RemoteSync builds it, one is asked for', () => {
  expect(missingImage([])).toEqual({
    reason: 'WaitingForImage',
    message: 'spec.image is not set: create a RemoteSync that builds it, or set it',
  })
  for (const one of [sync(), sync({ status: 'True', reason: 'Deployed' })])
    expect(missingImage([one])).toEqual({ reason: 'WaitingForImage', message: 'RemoteSync shop has not built the image yet' })
})

test.each([
  [
    {
      reason: 'BuildFailed',
      message: 'npm ci failed: no lock file\n(step build failed: correct it and push again; its log ends with:)\nx',
    },
    'ImageNotBuilt',
    'RemoteSync shop: BuildFailed: npm ci failed: no lock file',
  ],
  [
    { reason: 'Queued', message: '2nd of 3 builds of this tenant that wait; all 2 build slots of the platform are in use' },
    'WaitingForImage',
    'RemoteSync shop: Queued: 2nd of 3 builds of this tenant that wait; all 2 build slots of the platform are in use',
  ],
  [
    { reason: 'Building', message: 'build b1 is in step export' },
    'WaitingForImage',
    'RemoteSync shop: Building: the build is running',
  ],
  [
    { reason: 'BranchNotFound', message: 'there is no branch main' },
    'ImageNotBuilt',
    'RemoteSync shop: BranchNotFound: there is no branch main',
  ],
  [{ reason: 'GitHubUnreachable', message: 'no answer' }, 'WaitingForImage', 'RemoteSync shop: GitHubUnreachable: no answer'],
  [{ reason: 'OfAnotherVersion', message: 'x' }, 'WaitingForImage', 'RemoteSync shop: OfAnotherVersion: x'],
])('%j', (ready, reason, message) => {
  expect(missingImage([sync(ready)])).toEqual({ reason, message })
})

const waits = new Set(['ready', 'progress', 'machine'])

test.each([...remoteSync.reasons])('%s needs somebody exactly when the RemoteSync does', (reason, { class: of }) => {
  const status = of === 'ready' ? 'True' : 'False'
  expect(missingImage([sync({ reason, status })]).reason).toBe(waits.has(of) ? 'WaitingForImage' : 'ImageNotBuilt')
})

test('of two the one that does not give way is named, and one that is being deleted builds nothing', () => {
  const loser = sync({ reason: 'ApplicationTaken' }, { name: 'early', creationTimestamp: '2025-01-01T00:00:00Z' })
  expect(missingImage([loser, sync({ reason: 'Queued' })]).message).toContain('RemoteSync shop: Queued')
  expect(missingImage([sync({ reason: 'Queued' }, { deletionTimestamp: 'now' })]).message).toContain('create a RemoteSync')
})

test('a step of a build wakes nobody; its end does', () => {
  const step = (name: string) => imageStandOf(sync({ message: `build b1 is in step ${name}` }))
  expect(step('detect')).toEqual(step('export'))
  expect(step('export')).not.toEqual(imageStandOf(sync({ reason: 'BuildFailed' })))
  const place = (message: string) => imageStandOf(sync({ reason: 'Queued', message }))
  expect(place('2nd of 2')).not.toEqual(place('1st of 2'))
})

test('a message of megabytes is cut', () => {
  expect(missingImage([sync({ reason: 'BuildFailed', message: 'x'.repeat(4096) })]).message.length).toBeLessThan(1100)
})
