import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { redactedTail, redactTokens } from './log.ts'
import { SecretString } from './secret-string.ts'

test('prints a placeholder wherever the value could leak', () => {
  const secret = new SecretString('hunter2')
  const shown = [`${secret}`, JSON.stringify({ secret }), inspect({ secret }), inspect([secret], { depth: 9 }), String(secret)]
  for (const text of shown) {
    expect(text).toContain('[secret]')
    expect(text).not.toContain('hunter2')
  }
  expect(secret.reveal()).toBe('hunter2')
})

test('compares by value', () => {
  expect(new SecretString('a').equals('a')).toBe(true)
  expect(new SecretString('a').equals(new SecretString('b'))).toBe(false)
  expect(new SecretString('a').equals('ab')).toBe(false)
})

test.each([
  ['a classic installation token', 'ghs_16C7e42F292c6912E7710c838347Ae178B4a'],
  ['a stateless installation token', `ghs_12345_eyJhbGciOiJSUzI1NiJ9.${'eyJpc3MiOiJnaXRodWIifQ'.repeat(8)}.c2ln-bmF0_dXJl`],
  ['a user token', 'ghu_16C7e42F292c6912E7710c838347Ae178B4a'],
  ['a refresh token', `ghr_${'a1'.repeat(38)}`],
  ['a JWT', `eyJhbGciOiJFUzI1NiJ9.${'eyJzdWIiOiJ4In0'.repeat(3)}.sig`],
])('%s is redacted from texts', (_name, token) => {
  const text = redactTokens(`before ${token} after`)
  expect(text).toBe('before [redacted] after')
})

const stateless = `ghs_12345_eyJhbGciOiJSUzI1NiJ9.${'eyJpc3MiOiJnaXRodWIifQ'.repeat(21)}.c2ln-bmF0_dXJl`

test.each([
  [
    'in a line of JSON, behind an escaped line break',
    JSON.stringify({ error: `fatal:\n${stateless}` }),
    '{"error":"fatal:\\n[redacted]"}',
  ],
  ['in an address within an address', encodeURIComponent(`https://x:${stateless}@h`), 'https%3A%2F%2Fx%3A[redacted]%40h'],
  ['glued to a word', `password=x${stateless}`, 'password=x[redacted]'],
  ['as a JWT behind an escaped line break', JSON.stringify(`\neyJhbGciOiJFUzI1NiJ9.${'a'.repeat(30)}.b`), '"\\n[redacted]"'],
])('a token is redacted %s', (_where, text, shown) => {
  expect(stateless.length).toBeGreaterThan(500)
  expect(redactTokens(text)).toBe(shown)
})

test('the end of a long text shows no part of a token, wherever the cut is', () => {
  const text = `${'.\n'.repeat(40)}remote: https://x:${stateless}@h/a and ${stateless}\nfatal: no access`
  for (let most = 1; most <= text.length; most++) {
    const shown = redactedTail(text, most)
    expect(shown).not.toMatch(/ghs|eyJ|c2ln|bmF0/)
    expect(shown.length).toBeLessThanOrEqual(most)
  }
  expect(redactedTail(text, 40)).toBe('\nfatal: no access')
})

// Each of these takes minutes where a beginning of a token is looked at again from every place in it.
test.each(['eyJ-', 'eyJ', 'ghs_', 'eyJhbGciOiJ9.', '.eyJ', '-'])('a mebibyte of %j is gone through', part => {
  expect(redactTokens(part.repeat(2 ** 20 / part.length)).length).toBeGreaterThan(0)
})
