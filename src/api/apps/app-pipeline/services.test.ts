// The names of the instances that previews have for themselves.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { previewServiceName, previewServices } from './services.ts'

const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/)
const place = fc.record({
  pipeline: fc.record({ name: fc.stringMatching(/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/), uid: fc.uuid() }),
  number: fc.integer({ min: 1, max: 2_147_483_647 }),
  entry: fc.record({ name: label, class: label }),
})
type Place = typeof place extends fc.Arbitrary<infer T> ? T : never
const nameOf = ({ pipeline, number, entry }: Place): string => previewServiceName(pipeline, number, entry)

test('no two have one name: not those of pull requests, entries, classes or AppPipelines that begin alike or were made again', () => {
  fc.assert(
    fc.property(place, place, (a, b) => {
      const variants = [
        a,
        b,
        { ...a, pipeline: { ...a.pipeline, uid: b.pipeline.uid } },
        { ...a, number: b.number },
        { ...a, entry: { ...a.entry, class: b.entry.class } },
        { ...a, entry: { ...a.entry, name: b.entry.name } },
      ]
      const distinct = new Set(
        variants.map(one => JSON.stringify([one.pipeline.uid, one.number, one.entry.name, one.entry.class])),
      )
      expect(new Set(variants.map(nameOf)).size).toBe(distinct.size)
      for (const one of variants) expect(nameOf(one)).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])$/)
    }),
  )
})

test('an entry with an instance or bucket of its own names that one, and only that entry', () => {
  const pipeline = { name: 'shop', uid: 'u' }
  const services = [{ name: 'db', class: 'postgresql' }]
  const uses = ['db', 'catalogue'].map(name => ({ name, instance: `shop-${name}`, access: 'ReadOnly' }))
  const found = previewServices(pipeline, 12, { services, application: { services: uses } })
  expect(found).toEqual([
    { name: 'db', instance: previewServiceName(pipeline, 12, { name: 'db', class: 'postgresql' }), access: 'ReadOnly' },
    uses[1],
  ])
  expect(found?.[0]?.instance).toMatch(/^shop-pr-12-db-[0-9a-f]{8}$/)
  expect(previewServices(pipeline, 12, { application: { services: uses } })).toEqual(uses)
  expect(previewServices(pipeline, 12, { services, application: {} })).toBeUndefined()
  const bucket = { name: 'db', bucket: 'shared', prefix: 'in/' }
  const [own] = previewServices(pipeline, 12, { services, application: { services: [bucket] } }) ?? []
  expect(own).toEqual({ ...bucket, bucket: found?.[0]?.instance })
})
