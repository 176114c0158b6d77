// The command that repeats one test is one line for a shell, whatever is in its name.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { againLine, inOneLine } from './again.ts'

const file = { project: 'e2e', file: 'test/e2e/a.test.ts', seconds: 1, failures: [], skipped: [] }

/** The words that a shell makes of the command, without its variables and `npx`. */
function wordsOf(line: string): readonly string[] {
  const [, command = ''] = /^again: .*?npx (.*)$/s.exec(line) ?? []
  return execFileSync('sh', ['-c', `for word in ${command}; do printf '%s\\0' "$word"; done`], { encoding: 'utf8' }).split('\0')
}

test.each([`it's "quoted" and $HOME \`id\` > more`, 'a name (of 3) [x] a+b? ^|$ C:\\path *', 'two\nlines', '-dash'])(
  '%j',
  name => {
    const line = againLine(file, { test: name, error: '', seed: undefined }, {})
    expect(line).not.toContain('\n')
    const words = wordsOf(line)
    expect(words.slice(0, 6)).toEqual(['vitest', 'run', '--project', 'e2e', 'test/e2e/a.test.ts', '-t'])
    const pattern = new RegExp(words[6] ?? '')
    expect(pattern.test(name)).toBe(true)
    expect(pattern.test(`x${name}`)).toBe(false)
    expect(pattern.test(`${name}x`)).toBe(false)
  },
)

test('a file as a whole, with the variables that change what it does', () => {
  const failure = { test: undefined, error: '', seed: '-7:0:1' }
  expect(againLine(file, failure, { SEKISHO_LONG: '1', HOME: '/root' })).toBe(
    "again: SEKISHO_LONG='1' SEKISHO_SEED='-7:0:1' npx vitest run --project 'e2e' 'test/e2e/a.test.ts'",
  )
})

test('an error is one line of bounded length', () => {
  expect(inOneLine('a\n  b\tc ')).toBe('a b c')
  expect(inOneLine('x'.repeat(1000))).toHaveLength(240)
})
