// For tests: what the driver rejects with when PostgreSQL refuses a statement.
import pg from 'pg'

/** `code`: SQLSTATE. */
export function databaseError(code: string): Error {
  return Object.assign(new pg.DatabaseError('refused', 1, 'error'), { code })
}
