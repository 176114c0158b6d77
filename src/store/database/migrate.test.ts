import { describe, expect, test } from 'vitest'
import { formerHistory } from './former-history.ts'
import { type Migration, pendingMigrations, readMigrations } from './migrate.ts'

const migration = (name: string, checksum = `sum of ${name}`): Migration => ({ name, sql: '', checksum })
const applied = (name: string, change: object = {}) => ({
  migration_name: name,
  checksum: `sum of ${name}`,
  finished_at: new Date(0),
  ...change,
})
const all = [migration('0001_init'), migration('0002_more')]

describe('pending migrations', () => {
  test('are all in an empty database, and none in one that is up to date', () => {
    expect(pendingMigrations(all, []).map(({ name }) => name)).toEqual(['0001_init', '0002_more'])
    expect(pendingMigrations(all, [applied('0001_init')]).map(({ name }) => name)).toEqual(['0002_more'])
    expect(pendingMigrations(all, [applied('0001_init'), applied('0002_more')])).toEqual([])
  })

  const former = Object.entries(formerHistory).map(([name, checksum]) => applied(name, { checksum }))

  test('are those after 0001_init in a database that has all migrations that it replaces', () => {
    expect(pendingMigrations(all, former).map(({ name }) => name)).toEqual(['0002_more'])
    expect(pendingMigrations(all, [...former, applied('0002_more')])).toEqual([])
  })

  test.each([
    ['one is missing', former.slice(1)],
    ['one was altered', [...former.slice(1), applied('0001_init', { checksum: 'other' })]],
    ['0001_init in its present form is recorded as well', [...former, applied('0001_init')]],
    ['some stand beside 0001_init', [applied('0001_init'), ...former.slice(1, 3)]],
  ])('are refused when of the migrations that 0001_init replaces %s', (_case, rows) => {
    expect(() => pendingMigrations(all, rows)).toThrow('a part of a former history')
  })

  test('are refused when one of the former did not end', () => {
    expect(() => pendingMigrations(all, [...former.slice(1), applied('0001_init', { finished_at: null })])).toThrow('did not end')
  })

  test.each([
    ['a migration was altered after it was applied', applied('0001_init', { checksum: 'other' }), 'altered'],
    ['the database is of a newer version', applied('0003_future'), 'newer version'],
    ['a migration began and did not end', applied('0001_init', { finished_at: null }), 'did not end'],
  ])('are refused when %s', (_case, row, words) => {
    expect(() => pendingMigrations(all, [row])).toThrow(words)
  })

  test('are read from the folder of Prisma, in the order of their names', () => {
    const names = readMigrations().map(({ name }) => name)
    expect(names[0]).toBe('0001_init')
    expect(names).toEqual([...names].sort())
  })
})
