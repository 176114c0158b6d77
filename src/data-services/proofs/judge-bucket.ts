// Whether a key of a bucket may be delivered: it can do what was asked, and nothing else. Pure. What was not tried counts for
// nothing: a key is not proven by it.
import type { Grant } from '../adapters/s3/policy.ts'
import type { Judgement } from './judge.ts'

/** `done`: it came about. `passed`: the store let it through and then found something wrong with it. */
export type Outcome = 'done' | 'passed' | 'refused'

type Rule = { readonly may: readonly Grant['access'][]; readonly text: string }
const readers = ['ReadWrite', 'ReadOnly'] as const

/** In the bucket, below the prefix if there is one. */
const within = {
  write: { may: ['ReadWrite', 'WriteOnly'], text: 'write an object' },
  read: { may: readers, text: 'read an object' },
  list: { may: readers, text: 'list objects' },
  remove: { may: ['ReadWrite'], text: 'delete an object' },
} as const satisfies Record<string, Rule>

/** In the bucket, and not below the prefix. */
const outside = {
  writeOutside: 'write an object outside of the prefix',
  readOutside: 'read an object outside of the prefix',
  removeOutside: 'delete an object outside of the prefix',
  writeBeside: 'write an object below a prefix that begins alike',
  readBeside: 'read an object below a prefix that begins alike',
  listOutside: 'list objects outside of the prefix',
  listVersionsOutside: 'list versions outside of the prefix',
} as const

/** By names that lead out of its bucket where a store takes them for paths. */
const byPath = {
  removeByPath: 'delete from another bucket by a path as the name of an object',
  uploadByPath: 'reach another bucket by a path as the id of an upload',
} as const

const never = {
  writeOther: 'write into another bucket',
  readOther: 'read from another bucket',
  copyOther: 'copy from another bucket',
  listOther: 'list another bucket',
  removeOther: 'delete from another bucket',
  dropOther: 'delete another bucket',
  listBuckets: 'list the buckets of the store',
  makeBucket: 'make a bucket',
  readPolicy: 'read the policy of its bucket',
  writePolicy: 'write the policy of its bucket',
  writeAcl: 'write who may use its bucket',
  writeTags: 'write the tags of its bucket',
  writeLifecycle: 'write the lifecycle rules of its bucket',
  listUsers: 'list the users of the store',
  listKeys: 'list keys',
  makeKey: 'make a key',
  makeUser: 'make a user',
  writeUserPolicy: 'write its own policy',
  ...byPath,
} as const

export type Within = keyof typeof within
export type Outside = keyof typeof outside
export type Never = keyof typeof never
export type ByPath = keyof typeof byPath
/** What became of each attempt; one that does not apply, such as outside of no prefix, is left out. */
export type BucketProofFacts = {
  readonly within: Readonly<Partial<Record<Within, Outcome>>>
  readonly outside: Readonly<Partial<Record<Outside, Outcome>>>
  readonly never: Readonly<Partial<Record<Never, Outcome>>>
}

/** Whether a key with this access is to succeed with this attempt in its own bucket and prefix. */
export function mayDo(access: Grant['access'], attempt: Within): boolean {
  const may: readonly Grant['access'][] = within[attempt].may
  return may.includes(access)
}

/** The first thing that is not as it was asked for. */
export function judgeBucket({ access, prefix }: Pick<Grant, 'access' | 'prefix'>, facts: BucketProofFacts): Judgement {
  const forbidden = [
    ...keysOf(within).map(name => [mayDo(access, name) ? undefined : facts.within[name], within[name].text] as const),
    ...keysOf(outside).map(name => [facts.outside[name], outside[name]] as const),
    ...keysOf(never).map(name => [facts.never[name], never[name]] as const),
  ]
  const excess = forbidden.find(([outcome]) => outcome === 'done' || outcome === 'passed')
  if (excess !== undefined) return { kind: 'wider', message: `the key could do more than was asked for: ${excess[1]}` }
  const lack = keysOf(within).find(name => mayDo(access, name) && facts.within[name] !== 'done')
  if (lack !== undefined) return { kind: 'narrower', message: `the key cannot do what was asked for: ${within[lack].text}` }
  const untried =
    keysOf(within).find(name => facts.within[name] === undefined) ??
    (prefix === undefined ? undefined : keysOf(outside).find(name => facts.outside[name] === undefined)) ??
    keysOf(never).find(name => facts.never[name] === undefined)
  if (untried !== undefined) return { kind: 'narrower', message: `the key was not proven: nobody tried ${untried}` }
  return { kind: 'proven' }
}

/** The names of all attempts. */
export const attemptsOf = { within: keysOf(within), outside: keysOf(outside), never: keysOf(never) }

function keysOf<K extends string>(record: Readonly<Record<K, unknown>>): readonly K[] {
  return Object.keys(record) as K[]
}
