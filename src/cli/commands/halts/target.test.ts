// What people may write for what is halted, and that nothing else becomes a Halt: names that are numbers, numbers that are names,
// several of one name, and what is not known.
import { describe, expect, test } from 'vitest'
import { type Known, type TargetWord, targetOf } from './target.ts'

const host = 'github.com'
const known: Known = {
  grants: [
    { namespace: 'acme', name: 'read-shop' },
    { namespace: 'acme', name: 'shared' },
    { namespace: 'globex', name: 'shared' },
  ],
  repositories: [
    { host, id: 4001, name: 'acme/shop' },
    { host, id: 4001, name: 'acme/shop' },
  ],
  people: [
    { host, id: 1002, login: 'dave' },
    // A login of digits, which is the number of somebody else.
    { host, id: 1003, login: '1002' },
    { host, id: 1004, login: undefined },
  ],
  tenants: ['acme', 'globex'],
  installations: [{ host, id: 77, account: { id: 2001, login: 'acme' } }],
}
const target = (word: TargetWord, text: string, given: Known = known) => targetOf(word, text, given, 'acme')

describe('what is halted', () => {
  test.each<[TargetWord, string, object]>([
    ['everything', '', { type: 'Everything' }],
    ['token', '00000000-0000-4000-8000-000000000001', { type: 'Token', token: { id: '00000000-0000-4000-8000-000000000001' } }],
    ['token', `${'A'.repeat(43)}=`, { type: 'Token', token: { hash: `${'A'.repeat(43)}=` } }],
    ['grant', 'read-shop', { type: 'Grant', grant: { namespace: 'acme', name: 'read-shop' } }],
    ['grant', 'initech/any', { type: 'Grant', grant: { namespace: 'initech', name: 'any' } }],
    ['repository', 'Acme/Shop', { type: 'Repository', repository: { host, id: 4001, name: 'acme/shop' } }],
    ['repository', '4001', { type: 'Repository', repository: { host, id: 4001, name: 'acme/shop' } }],
    ['repository', '9', { type: 'Repository', repository: { host, id: 9 } }],
    ['repository', 'github.example.com/9', { type: 'Repository', repository: { host: 'github.example.com', id: 9 } }],
    ['person', 'dave', { type: 'Person', person: { host, id: 1002, login: 'dave' } }],
    ['person', 'github|github.com|1002', { type: 'Person', person: { host, id: 1002, login: 'dave' } }],
    ['person', '1004', { type: 'Person', person: { host, id: 1004 } }],
    ['tenant', 'globex', { type: 'Tenant', tenant: { name: 'globex' } }],
    ['installation', 'acme', { type: 'Installation', installation: { host, id: 77, account: 2001 } }],
    ['installation', '78', { type: 'Installation', installation: { host, id: 78 } }],
  ])('%s %s', (word, text, wanted) => {
    expect(target(word, text)).toEqual(wanted)
  })

  test.each<[TargetWord, string, RegExp]>([
    ['repository', 'acme/shpo', /not known here.*did you mean acme\/shop\?/],
    ['person', 'davee', /did you mean dave\?/],
    ['tenant', 'acmee', /did you mean acme\?/],
    ['grant', 'read-shpo', /did you mean read-shop\?/],
    ['grant', 'shared', /write acme\/shared or globex\/shared/],
    // A login of digits and the number of another person: nobody guesses.
    ['person', '1002', /is several: write github.com\/1003 or github.com\/1002/],
    ['token', `ghs_${'a'.repeat(36)}`, /never on the command line/],
  ])('%s %s is refused', (word, text, message) => {
    expect(() => target(word, text)).toThrow(message)
  })

  test('a number needs its host where several are known', () => {
    const two = { ...known, repositories: [...known.repositories, { host: 'github.example.com', id: 1, name: 'x/y' }] }
    expect(() => target('repository', '9', two)).toThrow('write it as HOST/NUMBER')
  })
})
