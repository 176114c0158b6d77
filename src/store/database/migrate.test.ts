import { describe, expect, test } from 'vitest'
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
