// The figures that the documentation states for changes of Applications.
import { expect, test } from 'vitest'
import type { Application } from '../../api/apps/application.ts'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { changedInputs, createChangePace } from './change-pace.ts'

function changed(namespace: string, generation: number, observedGeneration: number, uid = 'u'): Application {
  const metadata = { name: 'shop', namespace, generation, uid }
  return { metadata, spec: {}, status: { observedGeneration } } as unknown as Application
}

test('a tenant changes ten Applications at once and then one a second; others and what runs do not wait', async () => {
  const clock = createFakeClock()
  const pace = createChangePace(clock)
  for (let change = 0; change < 10; change++) expect(pace.wait(changed('globex', change + 2, change + 1), undefined)).toBe(0)
  expect(pace.wait(changed('globex', 200, 199), undefined)).toBe(1000)
  expect(pace.wait(changed('globex', 200, 200), undefined)).toBe(0)
  expect(pace.wait(changed('acme', 2, 1), undefined)).toBe(0)
  await clock.advance(1000)
  expect(pace.wait(changed('globex', 200, 199), undefined)).toBe(0)
  expect(pace.wait(changed('globex', 201, 200), undefined)).toBe(1000)
})

test('a changed AppSecret or tag counts for each Application like a change of the spec, and once', async () => {
  const clock = createFakeClock()
  const pace = createChangePace(clock)
  const of = (number: number): Application => changed('globex', 2, 2, `u${number}`)
  for (let number = 0; number < 10; number++) expect(pace.wait(of(number), 'v1')).toBe(0)
  expect(pace.wait(of(10), 'v1')).toBe(1000)
  expect(pace.wait(of(10), undefined)).toBe(0)
  expect(pace.wait(of(0), 'v1')).toBe(0)
  expect(pace.wait(of(0), 'v2')).toBe(1000)
  await clock.advance(1000)
  expect(pace.wait(of(10), 'v1')).toBe(0)
  expect(pace.wait(of(10), 'v1')).toBe(0)
})

type Inputs = Parameters<typeof changedInputs>[0]

function facts(digest: string | undefined, versions: object, released?: object): Inputs {
  const application = { ...changed('globex', 2, 2), status: { followedTag: { digest: 'a' } } } as unknown as Application
  const followed =
    digest === undefined ? {} : { followed: { tag: 'x', digest, problem: undefined, requeueAfterMilliseconds: undefined } }
  const headers = released === undefined ? [] : [{ spec: { secretVersions: released } }]
  return { application, ...followed, releases: { headers, secretVersions: versions } } as unknown as Inputs
}

test('inputs have changed when an AppSecret has another version than in the newest release, or the tag means another image', () => {
  expect(changedInputs(facts(undefined, { key: '1' }))).toBeUndefined()
  expect(changedInputs(facts(undefined, { key: '1' }, { key: '1' }))).toBeUndefined()
  expect(changedInputs(facts('a', { key: '1' }, { key: '1' }))).toBeUndefined()
  const bySecret = changedInputs(facts('a', { key: '2' }, { key: '1' }))
  const byTag = changedInputs(facts('b', { key: '1' }, { key: '1' }))
  expect(bySecret).toBeTypeOf('string')
  expect(byTag).toBeTypeOf('string')
  expect(changedInputs(facts('a', { key: '3' }, { key: '1' }))).not.toBe(bySecret)
  expect(changedInputs(facts('a', {}, { key: '1' }))).toBeTypeOf('string')
})
