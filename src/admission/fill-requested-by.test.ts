// When a name is filled in, and when a name that a person wrote is left unchanged.
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../lib/json/json-value.ts'
import { fillRequestedBy } from './fill-requested-by.ts'
import type { AdmissionRequest } from './review.ts'

const update = (spec: JsonObject, before: JsonObject): Partial<AdmissionRequest> => ({
  operation: 'UPDATE',
  object: { spec },
  oldObject: { spec: before },
})

const filledBy = (overrides: Partial<AdmissionRequest>) =>
  fillRequestedBy({
    uid: 'u',
    operation: 'CREATE',
    group: 'apps.sekisho.dev',
    resource: 'remotesyncs',
    subResource: undefined,
    namespace: 'acme',
    username: 'mia',
    login: undefined,
    object: { spec: { branch: 'main' } },
    oldObject: undefined,
    ...overrides,
  }).map(operation => operation.value)

const metadata = { ownerReferences: [{ apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'AppPipeline', controller: true }] }
const daves = { branch: 'main', requestedBy: 'dave' }

describe('requestedBy', () => {
  const table: readonly (readonly [string, Partial<AdmissionRequest>, readonly string[]])[] = [
    ['is the caller on create', {}, ['mia']],
    ['is the caller on the create of a grant', { group: 'github.sekisho.dev', resource: 'repositorygrants' }, ['mia']],
    ['stays what was written on create, right or wrong', { object: { spec: daves } }, []],
    ['becomes the colleague who changes something', update({ ...daves, branch: 'next' }, daves), ['mia']],
    ['becomes the colleague who changes something with a file that omits the field', update({ branch: 'next' }, daves), ['mia']],
    ['stays the former person when nothing changes', update(daves, daves), []],
    ['is restored when a file that omits the field changes nothing', update({ branch: 'main' }, daves), ['dave']],
    ['stays what was written on update', update({ branch: 'next', requestedBy: 'noah' }, daves), []],
    [
      'stays the person of the owner when the platform changes what it made',
      { ...update({}, daves), object: { metadata, spec: { ...daves, branch: 'next' } }, oldObject: { metadata, spec: daves } },
      [],
    ],
    ['is not touched on a status', { ...update({ branch: 'next' }, daves), subResource: 'status' }, []],
    ['is not touched on other kinds', { resource: 'applications' }, []],
    ['is not touched without a spec', { object: {} }, []],
  ]
  test.each(table)('%s', (_name, overrides, expected) => {
    expect(filledBy(overrides)).toEqual(expected)
  })
})
