// The locks of all databases of a server stand in one table, and PostgreSQL lets one session fill it: then nobody can log in, its
// administrator neither. This closes the login that does so, from a session that was open before and holds what it needs.
// Sources: https://www.postgresql.org/docs/current/runtime-config-locks.html, src/backend/storage/lmgr/README (fast path)
import { waitUntil } from '../../../lib/waiting/wait-until.ts'
import { loginPattern, ownLogin, quoted } from './identifiers.ts'
import { closedMark } from './logins.ts'
import { codeOf, type Server, type Session } from './server.ts'

/** Of the locks that the settings of the server provide for: more means that some session takes those of others. */
const fairShare = 0.5
/** Logins that are closed in one round: each of them needs a ServiceBinding. */
const maxRounds = 20

/** `out_of_memory`, of which a full table of locks is one, and `lock_not_available`. */
const noRoom = new Set(['53200', '55P03'])
const timeoutMilliseconds = 5_000

type Taker = { readonly oid: number; readonly name: string }
type Taken = { readonly role: number; readonly total: number; readonly capacity: number }

/**
 * While more than half of the locks are taken, the login of a tenant whose sessions have the most is closed: they are over, and
 * nobody logs in by it until its credential is made anew. `onClosed` hears of each, also when the server answers no more
 * afterwards. Rejects when the server does not answer.
 */
export function closeLockTakers(server: Server, onClosed: (login: string) => void): Promise<void> {
  return server.asGuard(hold, async session => {
    for (let round = 0; round < maxRounds; round++) {
      const taker = await takerOf(session)
      if (taker === undefined) break
      // Its locks are free a moment after its sessions were terminated, and it may log in again meanwhile.
      await waitUntil('a login that took the locks of others to be closed', () => isClosed(session, taker), {
        timeoutMilliseconds,
      })
      // Others see it from now on, and no look that was taken before counts for whoever hears of it.
      await session.query('COMMIT').finally(() => {
        if (!loginPattern.test(taker.name)) return
        server.changes.note([taker.name])
        onClosed(taker.name)
      })
      await hold(session)
      // One that logged in meanwhile.
      await endSessionsOf(session, taker.oid)
    }
  })
}

/** Ends its sessions. False when there is no room for a lock yet. One for a task of the platform goes on being a login. */
async function isClosed(session: Session, { oid, name }: Taker): Promise<boolean> {
  await endSessionsOf(session, oid)
  if (!loginPattern.test(name)) return true
  await session.query('SAVEPOINT before')
  try {
    await session.query(`ALTER ROLE ${quoted(name)} NOLOGIN ${closedMark}`)
    return true
  } catch (error) {
    if (!noRoom.has(codeOf(error) ?? '')) throw error
    await session.query('ROLLBACK TO before')
    return false
  }
}

/** The locks that its statements need while there is no other: those on the roles, whose index PostgreSQL takes by itself. */
async function hold(session: Session): Promise<void> {
  await session.query('SET idle_in_transaction_session_timeout = 0')
  await session.query('SET enable_seqscan = off')
  await session.query('BEGIN')
  await session.query("SELECT FROM pg_authid WHERE oid = 10 OR rolname = ''")
  // What it asks later is known to the session from now on, and needs no look into the catalog.
  await takerOf(session)
}

/** Of the logins of tenants. It uses functions and what `hold` holds, and no view: those need locks of their own. */
async function takerOf(session: Session): Promise<Taker | undefined> {
  await seeAnew(session)
  const taken = await session.query<Taken>(
    `SELECT activity.usesysid AS role, (sum(held.locks) OVER ())::int AS total,
       current_setting('max_locks_per_transaction')::int
         * (current_setting('max_connections')::int + current_setting('max_prepared_transactions')::int) AS capacity
     FROM (SELECT pid, count(*) AS locks FROM pg_lock_status() WHERE NOT fastpath GROUP BY pid) held
     JOIN pg_stat_get_activity(NULL) activity ON activity.pid = held.pid
     ORDER BY sum(held.locks) OVER (PARTITION BY activity.usesysid) DESC`,
  )
  const [first] = taken
  if (first === undefined || first.total <= first.capacity * fairShare) return undefined
  for (const { role } of taken) {
    const [found] = await session.query<{ name: string }>('SELECT rolname AS name FROM pg_authid WHERE oid = $1', [role])
    if (found !== undefined && ownLogin.test(found.name)) return { oid: role, name: found.name }
  }
  return undefined
}

/** In a transaction PostgreSQL shows the sessions as they were when it was asked first. */
async function seeAnew(session: Session): Promise<void> {
  await session.query('SELECT pg_stat_clear_snapshot()')
}

async function endSessionsOf(session: Session, role: number): Promise<void> {
  await seeAnew(session)
  await session.query('SELECT pg_terminate_backend(pid) FROM pg_stat_get_activity(NULL) WHERE usesysid = $1', [role])
}
