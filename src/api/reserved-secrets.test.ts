// Which Secret belongs to which ServiceAccount: no name to two of them.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isReservedSecretName, isTokenSecretOf, tokenSecretName } from './reserved-secrets.ts'

const part = fc.constantFrom('a', 'b', 'a-b', 'default', 'sekisho-app-shop')
const account = fc.array(part, { minLength: 1, maxLength: 3 }).map(parts => parts.join('.'))

test('a Secret with a token belongs to one ServiceAccount, whatever dots its name has', () => {
  fc.assert(
    fc.property(account, account, part, (one, other, grant) => {
      const name = tokenSecretName(one, grant)
      expect(isReservedSecretName(name)).toBe(true)
      expect(isTokenSecretOf(other, name)).toBe(one === other)
    }),
  )
})

test.each([
  ['', 'ghtok-.read'],
  ['default', 'ghtok-default'],
  ['default', 'ghtok-default-read'],
  ['default', 'ghtok-defaults.read'],
  ['default', 'other-default.read'],
  ['default', 'GHTOK-default.read'],
])('to the ServiceAccount "%s" does not belong %s', (name, secret) => {
  expect(isTokenSecretOf(name, secret)).toBe(false)
})
