import { expect, test } from 'vitest'
import { statesOf } from './find-state.ts'

const owners = (text: string): readonly string[] => statesOf('src/x.ts', text).map(({ line, owner }) => `${line} ${owner}`)

test('what owns state is found wherever it is made', () => {
  const text = `const turns = createKeyedMutex()
export function createPace(clock: Clock) {
  const flights = new SingleFlight<void>()
  return { take: (key: string) => createKeyedBuckets(rate, clock).take(key), flights, kept: new BoundedMap<string>(9) }
}`
  expect(owners(text)).toEqual(['1 createKeyedMutex', '3 SingleFlight', '4 createKeyedBuckets', '4 BoundedMap'])
})

test.each([
  [
    'at the top of a module',
    'const known = new Map<string, string>()\nexport function remember(key: string) { known.set(key, key) }',
    'Map',
  ],
  ['in a class', 'class Known {\n  readonly #seen = new Set<string>()\n}', 'Set'],
  [
    'that a returned method changes',
    'function create() {\n  const seen = new Set()\n  return { add(one) { seen.add(one) } }\n}',
    'Set',
  ],
  ['that a returned function changes', 'function create() {\n  const seen = new Set()\n  return one => seen.add(one)\n}', 'Set'],
  [
    'that is replaced',
    'function create() {\n  let seen = new Set()\n  return { reset: () => { seen = new Set(others) } }\n}',
    'Set',
  ],
  [
    'that a function behind the returned one changes',
    'function create() {\n  const seen = new Map()\n  function drop(key) { seen.delete(key) }\n  return { drop }\n}',
    'Map',
  ],
])('a collection %s is state', (_where, text, owner) => {
  expect(statesOf('src/x.ts', text).map(found => found.owner)).toEqual([owner])
})

test.each([
  ['of one call', 'function count(all) {\n  const seen = new Map()\n  for (const one of all) seen.set(one, 1)\n  return seen\n}'],
  [
    'that a callback of the same call changes',
    'function count(all) {\n  const seen = new Set()\n  all.forEach(one => seen.add(one))\n  return seen\n}',
  ],
  [
    'that nothing changes',
    "const shells: ReadonlySet<string> = new Set(['sh'])\nexport const isShell = (name: string) => shells.has(name)",
  ],
  ['that keeps nothing alive', 'const known = new WeakMap()\nexport const remember = (one: object) => known.set(one, 1)'],
])('a collection %s is none', (_what, text) => {
  expect(owners(text)).toEqual([])
})

test('the file that defines an owner needs no block; who uses it does', () => {
  const text = 'export function createKeyedMutex() {\n  const last = new Map()\n  return { run(key) { last.set(key, 1) } }\n}'
  expect(statesOf('src/lib/limits/keyed-mutex.ts', text)).toEqual([])
  expect(owners(text)).toEqual(['2 Map'])
})
