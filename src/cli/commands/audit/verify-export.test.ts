// An export verifies on a computer that never saw the platform, as a whole, as a part, and behind a cut. What is changed in one:
// export-mutations.test.ts.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  createInstallation,
  type ExportVerifier,
  type Installation,
  openExportVerifier,
  signed,
} from '../../../../test/fixtures/exported-log.ts'

let own: Installation
let foreign: Installation
let verifier: ExportVerifier
beforeAll(async () => {
  verifier = openExportVerifier()
  foreign = await createInstallation(1)
})
afterAll(() => verifier?.close())
beforeEach(async () => {
  own = await createInstallation(24)
})
const verify = (lines: readonly string[]) => verifier.verify(lines, own.keys)

test('it verifies with the keys that the user trusts, and with its own it says whose they claim to be', async () => {
  const lines = await own.exported()
  expect(await verify(lines)).toMatchObject({ code: 0, said: expect.stringContaining('24 entries') })
  const claimed = await verifier.verify(lines, undefined)
  expect(claimed).toMatchObject({ code: 0, said: expect.stringContaining('whoever made the file may have made them') })
  expect((await verifier.verify(lines, foreign.keys)).code).toBe(4)
})

test('a period ends at the next signed checkpoint and begins anywhere', async () => {
  const until = await own.exported({ until: own.log[4]?.at ?? '' })
  expect(await verify(until)).toMatchObject({ code: 0, said: expect.stringContaining('12 entries') })
  const since = await own.exported({ since: own.log[14]?.at ?? '' })
  expect(await verify(since)).toMatchObject({ code: 0, said: expect.stringContaining('begins after entry 14') })
})

test('a log that was cut verifies by its signed cut, and by nothing else', async () => {
  const head = own.headAt(6)
  await own.prune(6)
  const lines = await own.exported()
  expect(await verify(lines)).toMatchObject({ code: 0, said: expect.stringContaining('entries up to 6 were pruned') })
  expect((await verify(lines.filter(line => !line.startsWith('{"cut"')))).said).toContain('no cut that')
  const other = JSON.stringify({ cut: await signed.cut(foreign.keys, head) })
  expect((await verify(lines.map(line => (line.startsWith('{"cut"') ? other : line)))).code).toBe(4)
})

test.each([
  ['a field twice', (line: string) => line.replace('"actor":', '"actor":"github|github.com|666","actor":')],
  [
    'a field twice, the second in other letters',
    (line: string) => line.replace(/\}$/, ',"\\u0061ctor":"github|github.com|666"}'),
  ],
  ['other spaces', (line: string) => line.replace(':', ': ')],
])('a line that other programs may read differently is refused: %s', async (_what, change) => {
  const lines = await own.exported()
  const at = lines.findIndex(line => line.includes('"sequence":5,'))
  const changed = lines.map((line, index) => (index === at ? change(line) : line))
  expect(changed).not.toEqual(lines)
  const { code, said } = await verify(changed)
  expect([code, said]).toEqual([4, expect.stringContaining('no export writes so')])
})

test('a file that is no export, or is cut off in its last line, says so', async () => {
  const lines = await own.exported()
  expect((await verify(lines.slice(0, -1))).code).toBe(5)
  for (const other of [['hello'], ['{"a":1}'], []]) expect((await verify(other)).code).toBe(2)
})
