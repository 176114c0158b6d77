// The list of walls: each kind of object that is shipped belongs to one.
import { expect, test } from 'vitest'
import { readShipped, wallOfKind } from './admission/shipped.ts'
import { walls } from './walls.ts'

test('names are unique, and what is compared has a wall', () => {
  const names = walls.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const wall of Object.values(wallOfKind)) expect(names).toContain(wall)
})

test('what is shipped is read from the files: each policy with its binding, and both registrations', async () => {
  const shipped = await readShipped()
  const count = (kind: string): number => shipped.filter(one => one.kind === kind).length
  expect(count('ValidatingAdmissionPolicy')).toBeGreaterThan(50)
  expect(count('ValidatingAdmissionPolicyBinding')).toBeGreaterThanOrEqual(count('ValidatingAdmissionPolicy'))
  expect(count('MutatingAdmissionPolicy')).toBe(count('MutatingAdmissionPolicyBinding'))
  expect([count('ValidatingWebhookConfiguration'), count('MutatingWebhookConfiguration')]).toEqual([1, 1])
})
