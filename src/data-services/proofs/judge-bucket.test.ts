import { expect, test } from 'vitest'
import type { BucketAccess } from '../adapters/s3/policy.ts'
import { attemptsOf, type BucketProofFacts, judgeBucket, mayDo, type Outcome } from './judge-bucket.ts'

const all = <N extends string>(names: readonly N[], outcome: (name: N) => Outcome) =>
  Object.fromEntries(names.map(name => [name, outcome(name)]))
const good = (access: BucketAccess, prefix?: string): BucketProofFacts => ({
  within: all(attemptsOf.within, name => (mayDo(access, name) ? 'done' : 'refused')),
  outside: prefix === undefined ? {} : all(attemptsOf.outside, () => 'refused'),
  never: all(attemptsOf.never, () => 'refused'),
})
const accesses: readonly BucketAccess[] = ['ReadWrite', 'ReadOnly', 'WriteOnly']
const prefix = 'images/'
const everyAttempt = accesses.flatMap(access =>
  (['within', 'outside', 'never'] as const).flatMap(group => attemptsOf[group].map(name => [access, group, name] as const)),
)

test.each(accesses)('%s as it was asked for, and nothing else', access => {
  expect(judgeBucket({ access }, good(access))).toEqual({ kind: 'proven' })
  expect(judgeBucket({ access, prefix }, good(access, prefix))).toEqual({ kind: 'proven' })
})

test.each(everyAttempt)(
  '%s, %s, %s: one thing more is too much, one thing less or untried is not proven',
  (access, group, name) => {
    const facts = good(access, prefix)
    const changed = (outcome: Outcome | undefined): BucketProofFacts => ({
      ...facts,
      [group]: { ...facts[group], [name]: outcome },
    })
    const isWanted = group === 'within' && mayDo(access, name as (typeof attemptsOf.within)[number])
    const kinds = (['done', 'passed', 'refused', undefined] as const).map(
      outcome => judgeBucket({ access, prefix }, changed(outcome)).kind,
    )
    expect(kinds).toEqual(isWanted ? ['proven', 'narrower', 'narrower', 'narrower'] : ['wider', 'wider', 'proven', 'narrower'])
  },
)
