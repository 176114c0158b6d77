// The names of the ServiceAccounts of Applications.
import { expect, test } from 'vitest'
import { applicationAccount, applicationOfAccount, subjectOfAccount } from './application-account.ts'

test('an account names its Application whole, and no two share one', () => {
  const name = 'a'.repeat(63)
  expect(applicationAccount(name)).toHaveLength(75)
  expect(applicationOfAccount(applicationAccount(name))).toBe(name)
  expect(applicationOfAccount('sekisho-isolated')).toBeUndefined()
})

test('grants name the pods under an account by their Application, and those under others by the account', () => {
  expect(subjectOfAccount('sekisho-app-shop')).toBe('Application/shop')
  expect(subjectOfAccount('ci')).toBe('ServiceAccount/ci')
})
