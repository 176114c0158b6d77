// Text of others in a comment: whatever it contains stands in code, where GitHub makes nothing of it.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codeBlock, codeSpan, link } from './markdown.ts'

/** Pieces of which attempts to leave the code are made. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...[
          '`',
          '``',
          '```',
          '~~~',
          '\n',
          '\r',
          '\n\n',
          '\u2028',
          '\u0085',
          '\\',
          '@acme/owners',
          '#12',
          '<img src=x>',
          '</code>',
        ],
        ...[
          '![a](http://a.test/b)',
          '[a](javascript:alert(1))',
          '<!--',
          '-->',
          '\u202e',
          '\u200b',
          '|',
          '    ',
          '\t',
          '> ',
          '# ',
        ],
        ...['https://evil.test', 'acme/shop@0123456789', ':smile:', '&lt;', '\ud800', '😀', '\u0000', '\u001b[31m'],
      ),
      fc.string({ unit: 'grapheme', maxLength: 10 }),
    ),
    { maxLength: 20 },
  )
  .map(parts => parts.join(''))

describe('a code span', () => {
  test('is one line between two runs of backticks that the text does not contain', () => {
    fc.assert(
      fc.property(hostile, text => {
        const span = codeSpan(text)
        const [, ticks = '', content = ''] = /^(`+) ([\s\S]*) \1$/.exec(span) ?? expect.fail(`no span: ${span}`)
        expect(content).not.toMatch(/[\n\r\u2028\u0085]/)
        // CommonMark: the span ends at the first run of exactly as many backticks.
        const runs = [...content.matchAll(/`+/g)].map(([run]) => run.length)
        expect(runs).not.toContain(ticks.length)
        expect(content).not.toMatch(/[\p{Cc}\p{Cf}]/u)
        expect(content.isWellFormed()).toBe(true)
        expect([...content].length).toBeLessThanOrEqual(100)
      }),
    )
  })

  test.each([
    ['main', '` main `'],
    ['a`b', '`` a`b ``'],
    ['`', '`` ` ``'],
    ['', '` (empty) `'],
    [' \n ', '` (empty) `'],
    ['two\nlines', '` two lines `'],
    ['@everyone', '` @everyone `'],
    ['feature/\u202egnp.exe', '` feature/ gnp.exe `'],
  ])('of %j is %s', (text, span) => expect(codeSpan(text)).toBe(span))

  test('cuts between characters', () => {
    expect(codeSpan('😀'.repeat(200), 3)).toBe('` 😀😀… `')
  })
})

describe('a block of code', () => {
  test('ends with its own fence only, and has as many lines and characters as it may', () => {
    fc.assert(
      fc.property(hostile, text => {
        const lines = codeBlock(text, { lines: 5, characters: 60 }).split('\n')
        const [first = '', ...rest] = lines
        const fence = rest.pop() ?? ''
        expect(first).toBe(`${fence}text`)
        expect(fence).toMatch(/^`{3,}$/)
        // CommonMark: a closing fence is a line of at least as many backticks, indented by up to three spaces.
        for (const line of rest) expect(line).not.toMatch(new RegExp(`^ {0,3}${fence}`))
        expect(rest.length).toBeLessThanOrEqual(5)
        expect([...rest.join('\n')].length).toBeLessThanOrEqual(60)
      }),
    )
  })
})

describe('a link', () => {
  test.each([
    ['https://shop.acme.example.test', '<https://shop.acme.example.test>'],
    ['http://shop.localhost:8080/tenants/acme/builds/b-1', '<http://shop.localhost:8080/tenants/acme/builds/b-1>'],
    ['javascript:alert(1)', '` javascript:alert(1) `'],
    ['https://a.test/> @acme', '` https://a.test/> @acme `'],
    ['https://a.test/\n# Title', '` https://a.test/ # Title `'],
    ['https://user@a.test', '` https://user@a.test `'],
  ])('to %j is %s', (url, expected) => expect(link(url)).toBe(expected))
})
