// What every consumer of classes relies on.
import { expect, test } from 'vitest'
import { kinds } from '../registry.ts'
import { classOfReason } from './class-of-reason.ts'
import { classOf } from './reason.ts'

test.each(kinds.map(kind => [kind.kind, kind] as const))(
  'a reason of %s has the class that it has in every other kind',
  (_name, kind) => {
    for (const [name, reason] of kind.reasons) expect([name, classOfReason(name)]).toEqual([name, reason.class])
  },
)

test.each(kinds.map(kind => [kind.kind, kind] as const))('every reason of %s has one key', (_name, kind) => {
  expect(Object.values(kind.options.reasons.names).sort()).toEqual([...kind.reasons.keys()].sort())
})

test.each(['', 'constructor', 'Unheard'])('%j is no reason', name => {
  expect(classOfReason(name)).toBeUndefined()
  for (const kind of kinds) expect(classOf(kind, name)).toBeUndefined()
})
