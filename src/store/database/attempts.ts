// Counts attempts by name in windows of time, in the database: what one client may do is the same whichever replica answers. It
// decides nothing; the caller knows how many attempts are too many.
import type pg from 'pg'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'

// Memory (attempts in the store): device code or person → attempts in a window: polls of a device, codes that a person tried
//   life: the window
//   bound: a row of each; the sweep deletes ended ones
//   freshness: the end of the window
//   replicas: in the store: one count for all (ADR 0028)
/** The port for attempts. */
export type Attempts = {
  /**
   * Counts one attempt and resolves to how many there were in this window, this one included. A window begins with its first
   * attempt and lasts `windowMilliseconds`. Names have 1 to 300 characters and must hold no secret; `invalid_request`
   * otherwise. Exact for concurrent callers.
   */
  readonly count: (name: string, windowMilliseconds: number) => Promise<number>
  /** Returns how many names were forgotten because their window had ended. */
  readonly deleteExpired: (now: Date) => Promise<number>
}

const maxName = 300

/** The count stops growing far above every bound in use, so that it cannot overflow. */
const count = `
  INSERT INTO broker.attempts AS known (name, count, until) VALUES ($1, 1, $3)
  ON CONFLICT (name) DO UPDATE SET
    count = CASE WHEN known.until <= $2 THEN 1 ELSE least(known.count + 1, 1000000) END,
    until = CASE WHEN known.until <= $2 THEN excluded.until ELSE known.until END
  RETURNING count`

/** One statement for each attempt. */
export function createAttempts({ pool, clock }: { readonly pool: pg.Pool; readonly clock: Clock }): Attempts {
  return {
    async count(name, windowMilliseconds) {
      if (name === '' || name.length > maxName)
        throw new AppError('invalid_request', `the name of attempts must have 1 to ${maxName} characters`)
      const now = clock.now()
      const until = new Date(now.getTime() + windowMilliseconds)
      const { rows } = await pool.query<{ count: number }>(count, [name, now, until])
      // The statement always returns its row.
      return rows[0]?.count ?? Number.POSITIVE_INFINITY
    },
    async deleteExpired(now) {
      return (await pool.query('DELETE FROM broker.attempts WHERE until <= $1', [now])).rowCount ?? 0
    },
  }
}
