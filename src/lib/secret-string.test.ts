import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { redactTokens } from './log.ts'
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
