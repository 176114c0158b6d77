// The figures that the documentation states for changes of Applications.
import { expect, test } from 'vitest'
import type { Application } from '../../api/apps/application.ts'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { createChangePace } from './change-pace.ts'

function changed(namespace: string, generation: number, observedGeneration: number): Application {
  const metadata = { name: 'shop', namespace, generation }
  return { metadata, spec: {}, status: { observedGeneration } } as unknown as Application
}

test('a tenant changes fifty Applications at once and then one a second; others and what runs do not wait', async () => {
  const clock = createFakeClock()
  const pace = createChangePace(clock)
  for (let change = 0; change < 50; change++) expect(pace.wait(changed('globex', change + 2, change + 1), false)).toBe(0)
  expect(pace.wait(changed('globex', 200, 199), false)).toBe(1000)
  expect(pace.wait(changed('globex', 200, 200), false)).toBe(0)
  expect(pace.wait(changed('acme', 2, 1), false)).toBe(0)
  await clock.advance(1000)
  expect(pace.wait(changed('globex', 200, 199), false)).toBe(0)
  expect(pace.wait(changed('globex', 201, 200), false)).toBe(1000)
})

test('what a tag came to mean counts like a change of the spec', () => {
  const pace = createChangePace(createFakeClock())
  for (let change = 0; change < 50; change++) expect(pace.wait(changed('globex', 2, 2), true)).toBe(0)
  expect(pace.wait(changed('globex', 2, 2), true)).toBe(1000)
  expect(pace.wait(changed('globex', 2, 2), false)).toBe(0)
})
