import { expect, test } from 'vitest'
import { createChanges, namedIn } from './changes.ts'
import { instanceId, loginName, namesOf, quoted } from './identifiers.ts'

const id = instanceId({ tenantUid: 't', namespace: 'n', name: 'db' })
const login = loginName('u', 'b')
const { owner, reader, remover } = namesOf(id)

test.each([id, owner, reader, remover])('a statement that names %s changes its database', name => {
  expect(namedIn(`ALTER ROLE ${quoted(name)} NOLOGIN`)).toEqual([id])
})

test('a statement names logins and databases, and a question nothing', () => {
  expect(namedIn(`GRANT ${quoted(owner)} TO ${quoted(login)}`)).toEqual([id, login])
  expect(namedIn(`SELECT FROM pg_roles WHERE rolname = $1`)).toEqual([])
  expect(namedIn(`REVOKE ALL ON DATABASE "postgres" FROM PUBLIC`)).toEqual([])
})

test('what was named since it began is known until it ends', () => {
  const { note, follow } = createChanges()
  note([id])
  const first = follow()
  expect(first.has(id)).toBe(false)
  note([login])
  const second = follow()
  expect([first.has(login), second.has(login)]).toEqual([true, false])
  first.end()
  note([id])
  expect([first.has(id), second.has(id)]).toEqual([false, true])
})

test('after more changes than it remembers everything counts as changed', () => {
  const { note, follow } = createChanges()
  const followed = follow()
  note(Array.from({ length: 20_000 }, (_, n) => `l_${n}`))
  expect(followed.has(id)).toBe(false)
  note(['l_more'])
  expect(followed.has(id)).toBe(true)
})
