// What a Release says about where its change came from.
import { describe, expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { changedByAnnotation, promotedAnnotation } from '../../../api/names.ts'
import { changedBy, changedByKnown, changeOf, personIn } from './desired-release.ts'

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

const alone = { syncs: [], released: 1 }

test('who changed the spec is unknown without a record; the last field manager that is not the platform’s is not a name', () => {
  expect(changedBy(byKubectl, alone, 'SpecChanged')).toEqual({ kind: 'FieldManager', name: 'unknown (kubectl)' })
  expect(changedBy(live([]), alone, 'SpecChanged')).toEqual({ kind: 'FieldManager', name: 'unknown' })
})

describe('the user of the annotation', () => {
  const mia = 'github|github.com|7'
  const noah = live([[mia, '2026-01-01T00:00:00Z']])
  /** The Application at a generation, with the value. */
  const at = (generation: number, text: string): Application => ({
    ...noah,
    metadata: { ...noah.metadata, generation, annotations: { [changedByAnnotation]: text } },
  })
  const user = { kind: 'User', name: mia }
  const nobody = { kind: 'FieldManager', name: `unknown (${mia})` }
  const also = { ...nobody, alsoChangedBy: mia }

  test.each([
    { what: 'made the only change since the release before', value: `6-6 ${mia}`, expected: user },
    { what: 'made all changes since', generation: 8, value: `6-8 ${mia}`, expected: user },
    { what: 'made these changes and earlier ones', generation: 8, value: `2-8 ${mia}`, expected: user },
    { what: 'created the Application', generation: 1, value: `1-1 ${mia}`, released: 0, expected: user },
    { what: 'made the last change, and somebody else one before it', generation: 8, value: `8-8 ${mia}`, expected: also },
    { what: 'made a change, and an unrecorded one followed', generation: 7, value: `6-6 ${mia}`, expected: also },
    { what: 'made no change since', generation: 8, value: `5-5 ${mia}`, expected: nobody },
    { what: 'has a login', value: `6-6@mia-x ${mia}`, expected: { ...user, login: 'mia-x' } },
    {
      what: 'has a login, and somebody else made a change',
      generation: 8,
      value: `8-8@mia ${mia}`,
      expected: { ...also, login: 'mia' },
    },
    { what: 'is not there', value: '', expected: nobody },
    { what: 'is not in a value of another form', value: mia, expected: nobody },
  ])('$what', ({ generation = 6, value, released = 5, expected }) => {
    expect(changedBy(at(generation, value), { syncs: [], released }, 'SpecChanged')).toEqual(expected)
  })

  test('did not change a secret, and not what a RemoteSync sets', () => {
    const found = at(6, `6-6 ${mia}`)
    expect(changedBy(found, { syncs: [], released: 5 }, 'SecretChanged')).toEqual(nobody)
    expect(changedBy(found, { syncs: [], released: 5 }, 'NewImage')).toEqual(user)
    const built = { ...found, spec: { ...found.spec, commit: 'c1' } }
    const syncs = [sync('shop', { image, imageCommit: 'c1' })]
    expect(changedBy(built, { syncs, released: 5 }, 'NewCommit')).toEqual({ kind: 'RemoteSync', name: 'shop', requestedBy })
  })
})

test.each([
  ['that has the image', { image, imageCommit: 'c1' }],
  [
    'that has not yet written its status after it set the image',
    { image: 'earlier', imageCommit: 'c0', build: { commit: 'c1' } },
  ],
])('a new commit was set by the RemoteSync %s', (_what, status) => {
  const syncs = [sync('other', { build: { commit: 'c9' } }), sync('shop', status)]
  const by = changedBy(live([['sekisho-cli', '2026-01-01T00:00:00Z']], 'c1'), { syncs, released: 1 }, 'NewCommit')
  expect(by).toEqual({ kind: 'RemoteSync', name: 'shop', requestedBy })
})

test.each([
  [{ kind: 'User', name: 'u' } as const, 'u'],
  [{ kind: 'RemoteSync', name: 'shop', requestedBy: 'r' } as const, 'r'],
  [{ kind: 'FieldManager', name: 'unknown (u)', alsoChangedBy: 'a' } as const, 'a'],
  [{ kind: 'FieldManager', name: 'unknown (u)' } as const, undefined],
])('the person in %j', (by, person) => {
  expect(personIn(by)).toBe(person)
})

test('an image without a commit was not set by a RemoteSync', () => {
  expect(changedBy(byKubectl, { syncs: [sync('shop', { image, build: {} })], released: 1 }, 'NewImage')).toMatchObject({
    kind: 'FieldManager',
  })
})

/** Its image was set by these field managers. */
function imageBy(...managers: readonly string[]): Application {
  const managedFields = managers.map(manager => ({ manager, fieldsV1: { 'f:spec': { 'f:image': {} } } }))
  return { metadata: { name: 'shop', managedFields }, spec: { image, commit: 'c1' } } as unknown as Application
}

test('a tag that moved names the tag: nobody changed the Application', () => {
  const tagged = live([['kubectl', '2026-01-01T00:00:00Z']])
  const by = changedBy(
    { ...tagged, spec: { ...tagged.spec, image: 'ghcr.io/acme/shop:v1' } },
    { syncs: [], released: 0 },
    'TagMoved',
  )
  expect(by).toEqual({ kind: 'Tag', name: 'ghcr.io/acme/shop:v1' })
  expect(personIn(by)).toBeUndefined()
})

test('an image that was promoted was set by the only RemoteSync, unless somebody else set it too', () => {
  const ours = 'sekisho.dev/remote-sync'
  const shop = { syncs: [sync('shop', {})], released: 1 }
  const by = (...managers: readonly string[]) => changedBy(imageBy(...managers), shop, 'Promoted')
  expect(by(ours)).toMatchObject({ kind: 'RemoteSync', name: 'shop' })
  expect(by(ours, 'kubectl-edit')).toEqual({ kind: 'FieldManager', name: 'unknown (kubectl-edit)' })
  const two = { syncs: [sync('shop', {}), sync('other', {})], released: 1 }
  expect(changedBy(imageBy(ours), two, 'Promoted')).toMatchObject({ kind: 'FieldManager' })
  expect(changedBy(imageBy(ours), shop, 'SpecChanged')).toMatchObject({ kind: 'FieldManager' })
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

describe('from the cache, which has no managedFields', () => {
  const mia = 'github|github.com|7'
  const user = { kind: 'User', name: mia }
  const building = sync('shop', { build: { commit: 'c1' } })
  const created = (commit?: string, manager = mia): Application => {
    const managedFields = [{ manager, fieldsV1: { 'f:spec': { 'f:image': {} } } }]
    const metadata = { name: 'shop', generation: 1, managedFields, annotations: { [changedByAnnotation]: `1-1 ${mia}` } }
    return { metadata, spec: { image, commit } } as unknown as Application
  }
  const unrecorded = (found: Application): Application => ({ ...found, metadata: { ...found.metadata, annotations: {} } })

  test.each([
    { what: 'a user who created it', found: created(), known: user },
    { what: 'a user where no RemoteSync is', found: created('c1'), known: user },
    { what: 'the RemoteSync that builds the commit', found: created('c1'), syncs: [building], known: { kind: 'RemoteSync' } },
    { what: 'nothing where the only RemoteSync may have set the image', found: created('c1'), syncs: [sync('shop', {})] },
    { what: 'nothing where it has', found: created('c1', 'sekisho.dev/remote-sync'), syncs: [sync('shop', {})] },
    { what: 'nothing where nobody recorded the change', found: unrecorded(created()) },
  ])('is known $what', ({ found, syncs = [], known }) => {
    const { managedFields: _, ...metadata } = found.metadata as Application['metadata'] & { managedFields: unknown }
    const changes = { syncs, released: 0 }
    const by = changedByKnown({ ...found, metadata }, changes, 'First')
    if (known) expect(by).toMatchObject(known)
    expect(by).toEqual(known && changedBy(found, changes, 'First'))
  })
})
