// The two texts of an administrator: what they may say, and how a mistake is named.
import { describe, expect, test } from 'vitest'
import { accessOf } from './named-subjects.ts'

describe('readers', () => {
  test('comments, empty lines and the three kinds of subjects', () => {
    const readers = '# who\n\nUser github|github.com|7 # ada\nGroup  sre\nServiceAccount a/b\r\n'
    const { users, groups } = accessOf({ readers, namespaces: '' }).subjects
    expect([...users]).toEqual(expect.arrayContaining(['github|github.com|7', 'system:serviceaccount:a:b']))
    expect([...groups]).toContain('sre')
  })

  test.each([
    ['bob', 'readers, line 1: write "User <name>"'],
    ['User a b', 'readers, line 1: write "User <name>"'],
    ['\nServiceAccount a', 'readers, line 2: write'],
    ['ServiceAccount a/b/c', 'readers, line 1: write'],
    ['Group system:authenticated', 'the group system:authenticated is everybody'],
    ['Group system:serviceaccounts', 'the group system:serviceaccounts is everybody'],
    ['Group system:unauthenticated', 'is everybody'],
    ['User x\n'.repeat(1001), 'more than 1000 entries'],
  ])('%j is refused', (readers, message) => {
    expect(() => accessOf({ readers, namespaces: '' })).toThrow(message)
  })
})

describe('namespaces', () => {
  test('are names', () => {
    expect([...accessOf({ readers: '', namespaces: 'tools\n default ' }).openNamespaces]).toEqual(['tools', 'default'])
  })

  test.each([
    ['Tools', 'namespaces, line 1: write the name'],
    ['*', 'namespaces, line 1: write the name'],
    ['a\nsekisho-system', 'namespaces, line 2: sekisho-system is the platform’s own'],
  ])('%j is refused', (namespaces, message) => {
    expect(() => accessOf({ readers: '', namespaces })).toThrow(message)
  })
})
