import { expect, test } from 'vitest'
import { mayOnboard, parseAccounts } from './accounts.ts'

const acme = { host: 'github.com', id: 7 }
const tenantOf = (account: typeof acme, metadata: { readonly deletionTimestamp?: string } = {}) => ({
  metadata,
  spec: { account },
})

test('nobody is listed by default', () => {
  expect(mayOnboard(acme, parseAccounts(''), [])).toBe(false)
  expect(mayOnboard(acme, parseAccounts(' , '), [])).toBe(false)
})

test('accounts are listed by number, or all of them', () => {
  expect(mayOnboard(acme, parseAccounts('7, 8'), [])).toBe(true)
  expect(mayOnboard(acme, parseAccounts('77,8'), [])).toBe(false)
  expect(mayOnboard(acme, parseAccounts('any'), [])).toBe(true)
})

test('an account that has a tenant may be onboarded again; the same number on another host may not', () => {
  expect(mayOnboard(acme, parseAccounts(''), [tenantOf(acme)])).toBe(true)
  expect(mayOnboard(acme, parseAccounts(''), [tenantOf({ ...acme, host: 'ghe.example.com' })])).toBe(false)
})

test('a tenant that is being deleted admits nobody: a platform admin may have ended it', () => {
  const ending = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  expect(mayOnboard(acme, parseAccounts(''), [tenantOf(acme, ending)])).toBe(false)
})

test.each(['acme', '7,acme', '0', '-1', '1e3', '7;8', 'any,7', 'ANY', '9999999999999999'])('%s is refused', text => {
  expect(() => parseAccounts(text)).toThrow(/numeric account ids/)
})
