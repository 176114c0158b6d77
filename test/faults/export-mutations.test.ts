// Fault 16 of the list in fault-page.ts, in a file: whatever is changed in an export is found, also behind a pruned head: each
// kind of change by its name, and random ones, one upon the other.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseJson } from '../../src/lib/json/json-value.ts'
import { sameJson } from '../../src/lib/json/same-json.ts'
import { type ExportParts, exportChanges, linesOf, otherCharacter, partsOf } from '../fixtures/export-changes.ts'
import {
  createInstallation,
  type ExportVerifier,
  type Installation,
  openExportVerifier,
  signed,
} from '../fixtures/exported-log.ts'
import { isLong } from '../fixtures/form.ts'

const length = 24
const mutations = isLong('faults') ? 10_000 : 150
const seed = fc.readConfigureGlobal().seed ?? Math.floor(Math.random() * 2 ** 31)

describe.each([
  ['of a whole log', 0],
  ['behind a pruned head', 8],
])('an export %s', (_name, pruned) => {
  let verifier: ExportVerifier
  let own: Installation
  let other: Installation
  let lines: readonly string[]
  let parts: ExportParts
  let foreign: ExportParts
  beforeAll(async () => {
    verifier = openExportVerifier()
    const make = async (name: string): Promise<Installation> => {
      const installation = await createInstallation(length, name)
      if (pruned > 0) await installation.prune(pruned)
      return installation
    }
    own = await make('entry')
    other = await make('another')
    lines = await own.exported()
    parts = partsOf(lines)
    foreign = partsOf(await other.exported())
  })
  afterAll(() => verifier?.close())
  const codeOf = async (changed: readonly string[]) => (await verifier.verify(changed, own.keys)).code

  test('verifies, and as one of another installation only by the keys that it brings, which is said', async () => {
    expect(linesOf(parts)).toEqual(lines)
    expect(await codeOf(lines)).toBe(0)
    expect(await verifier.verify(linesOf(foreign), undefined)).toMatchObject({
      code: 0,
      said: expect.stringContaining('whoever made the file may have made them'),
    })
  })

  test.each(exportChanges)('%s: that is found', async (_name, change) => {
    const last = parts.entries.length - 1
    for (const at of [0, 1, Math.floor(last / 2), last])
      expect([4, 5], `at ${at}`).toContain(await codeOf(linesOf(change(parts, at))))
  })

  type Signing = (own: Installation, other: Installation) => ExportParts | Promise<ExportParts>
  const lastCheckpoint = (checkpoint: string): ExportParts => ({ ...parts, checkpoints: parts.checkpoints.with(-1, checkpoint) })
  const newest = () => parts.checkpoints.at(-1) ?? ''
  const head = () => own.headAt(parts.entries.at(-1)?.sequence ?? 0)
  test.each<readonly [string, Signing]>([
    ['the last checkpoint is removed', () => ({ ...parts, checkpoints: parts.checkpoints.slice(0, -1) })],
    ['a checkpoint is one of an earlier entry', () => lastCheckpoint(parts.checkpoints[0] ?? '')],
    ['a checkpoint is one of another installation', () => lastCheckpoint(foreign.checkpoints.at(-1) ?? '')],
    ['a checkpoint is signed by another installation', async () => lastCheckpoint(await signed.checkpoint(other.keys, head()))],
    [
      'a checkpoint is of another log of this installation',
      async () => lastCheckpoint(await signed.checkpoint(own.keys, { ...head(), hash: 'f'.repeat(64) })),
    ],
    [
      'a checkpoint is of another issuer',
      async () => lastCheckpoint(await signed.checkpoint(own.keys, head(), 'https://sekisho.example.com')),
    ],
    ['a checkpoint is a signed cut', async () => lastCheckpoint(await signed.cut(own.keys, head()))],
    ['a checkpoint has no signature', () => lastCheckpoint(newest().replace(/\.[^.]*$/, '.'))],
    [
      'a checkpoint has the signature of another one',
      () => lastCheckpoint(newest().replace(/[^.]*$/, parts.checkpoints[0]?.split('.')[2] ?? '')),
    ],
    ['all entries are those of another installation', () => ({ ...parts, entries: foreign.entries })],
    [
      'one entry is that of another installation',
      () => ({ ...parts, entries: parts.entries.with(5, foreign.entries[5] as never) }),
    ],
    [
      'the last entries are those of another installation',
      () => ({ ...parts, entries: parts.entries.toSpliced(9, length, ...foreign.entries.slice(9)) }),
    ],
    ['all signed statements are those of another installation', () => ({ ...foreign, entries: parts.entries })],
    ['everything is that of another installation', () => foreign],
  ])('%s: that is found', async (_name, change) => {
    expect([4, 5]).toContain(await codeOf(linesOf(await change(own, other))))
  })

  test.runIf(pruned > 0).each<readonly [string, Signing]>([
    ['removed', () => ({ ...parts, cuts: [] })],
    ['one of another installation', () => ({ ...parts, cuts: foreign.cuts })],
    ['signed by another installation', async () => ({ ...parts, cuts: [await signed.cut(other.keys, parts.header.start)] })],
    ['at another entry', async () => ({ ...parts, cuts: [await signed.cut(own.keys, own.headAt(pruned + 1))] })],
    ['a checkpoint', async () => ({ ...parts, cuts: [await signed.checkpoint(own.keys, parts.header.start)] })],
  ])('the cut is %s: that is found', async (_name, change) => {
    expect(await codeOf(linesOf(await change(own, other)))).toBe(4)
  })

  test('that ends at an earlier checkpoint, or begins later as a part, is a true part and says which', async () => {
    const until = parts.entries.filter(({ sequence }) => sequence <= length / 2)
    const begun = await verifier.verify(
      linesOf({ ...parts, entries: until, checkpoints: parts.checkpoints.slice(0, 1) }),
      own.keys,
    )
    expect(begun).toMatchObject({ code: 0, said: expect.stringContaining(`${until.length} entries`) })
    const start = own.headAt(parts.entries[4]?.sequence ?? 0)
    const header = { ...parts.header, since: '2026-01-01T00:00:00.000Z', start }
    const part = await verifier.verify(linesOf({ ...parts, header, entries: parts.entries.slice(5) }), own.keys)
    expect(part).toMatchObject({ code: 0, said: expect.stringContaining(`a part: it begins after entry ${start.sequence}`) })
  })

  const changes = fc.array(fc.tuple(fc.nat(exportChanges.length - 1), fc.nat()), { minLength: 1, maxLength: 3 })
  const character = fc.record({ line: fc.nat(), at: fc.nat(), to: fc.nat() })
  test(
    `${mutations} random changes are found (seed ${seed})`,
    async () => {
      const found = async (changed: readonly string[], codes: readonly number[]): Promise<void> => {
        fc.pre(!sameJson(changed.map(parseJson), lines.map(parseJson)))
        expect(codes).toContain(await codeOf(changed))
      }
      const ofParts = fc.asyncProperty(changes, async all => {
        const changed = all.reduce(
          (made, [kind, at]) =>
            made.entries.length < 2 ? made : (exportChanges[kind]?.[1](made, at % made.entries.length) ?? made),
          parts,
        )
        await found(linesOf(changed), [4, 5])
      })
      const ofCharacters = fc.asyncProperty(character, async numbers => found(otherCharacter(lines, numbers), [2, 4, 5]))
      await fc.assert(ofParts, { numRuns: Math.ceil(mutations / 2), seed })
      await fc.assert(ofCharacters, { numRuns: Math.floor(mutations / 2), seed })
    },
    isLong('faults') ? 1_200_000 : 240_000,
  )
})
