// Connections to a PostgreSQL server: as its administrator, and as one login. Every statement has a time limit, and a session of
// the administrator resolves no name but those of pg_catalog. No error ever contains a password.
import pg from 'pg'
import { AppError, messageOf } from '../../../lib/errors.ts'
import type { SecretString } from '../../../lib/secret-string.ts'
import { type Changes, createChanges, namedIn } from './changes.ts'

export type Credential = { readonly username: string; readonly password: SecretString }
/** `tls`: the authority in PEM, or undefined for those that the system trusts. Without `tls` nothing is encrypted. */
export type ServerAddress = { readonly host: string; readonly port: number; readonly tls?: { readonly ca: string | undefined } }

export type Session = {
  /** Rejects with the driver's error, which carries PostgreSQL's code. */
  readonly query: <R extends object = Record<string, unknown>>(sql: string, values?: readonly unknown[]) => Promise<readonly R[]>
}

/** What statements are for: a look at the whole server; one object; trying a login; the guard of the locks. */
export const purposes = ['look', 'administrator', 'login', 'guard'] as const
export type Purpose = (typeof purposes)[number]
/** Called for each statement. */
export type CountStatement = (purpose: Purpose) => void

export type Server = {
  /** A session of the administrator for the look at the whole server, closed afterwards. Rejects as `asAdministrator` does. */
  readonly asLook: <T>(work: (session: Session) => Promise<T>) => Promise<T>
  /** What the administrator's statements named. */
  readonly changes: Changes
  /** A session of the administrator in its own database, or in the one named. Rejects with `unavailable`, or what `work` does. */
  readonly asAdministrator: <T>(work: (session: Session) => Promise<T>, database?: string) => Promise<T>
  /** A session of a login, closed afterwards. Rejects with the driver's error. */
  readonly asLogin: <T>(credential: Credential, database: string, work: (session: Session) => Promise<T>) => Promise<T>
  /** The one session that stays open, in a transaction that `begin` began, so that it works while nobody can log in. */
  readonly asGuard: <T>(begin: (session: Session) => Promise<void>, work: (session: Session) => Promise<T>) => Promise<T>
  /** Ends every session. Idempotent. */
  readonly close: () => Promise<void>
}

const connectMilliseconds = 5_000
const statementMilliseconds = 20_000
/** The server cancels its own statements; this is for a server that no longer answers. */
const unansweredMilliseconds = 22_000
/** A look at the whole server is asked again without what takes long. */
const lookMilliseconds = 5_000
const unansweredLookMilliseconds = 7_000
/** At rest no session is left open. */
const idleMilliseconds = 30_000
/** Tenants can lock roles, by grants that they make in open transactions: the administrator waits for none of them. */
const lockMilliseconds = 1_000
const administrators = 4
const administrationDatabase = 'postgres'

/** Connects when first used. */
export function connectServer(
  address: ServerAddress,
  administrator: Credential,
  count: CountStatement = () => undefined,
): Server {
  const { host, port, tls } = address
  const ssl = tls === undefined ? false : { rejectUnauthorized: true, ...(tls.ca !== undefined && { ca: tls.ca }) }
  const settings = (credential: Credential, database: string): pg.ClientConfig => ({
    host,
    port,
    ssl,
    database,
    user: credential.username,
    password: credential.password.reveal(),
    connectionTimeoutMillis: connectMilliseconds,
    statement_timeout: statementMilliseconds,
    query_timeout: unansweredMilliseconds,
    keepAlive: true,
    application_name: 'sekisho-data-services',
  })
  const asAdmin = (database: string): pg.ClientConfig => ({
    ...settings(administrator, database),
    options: `-c search_path=pg_catalog -c lock_timeout=${lockMilliseconds}`,
  })
  const pool = new pg.Pool({ ...asAdmin(administrationDatabase), max: administrators, idleTimeoutMillis: idleMilliseconds })
  // A session that breaks while nobody uses it is replaced by the next one; a broken statement rejects.
  pool.on('error', () => undefined)
  const guard = keptSession(asAdmin(administrationDatabase))
  const changes = createChanges()
  const counted = countedBy(count)
  const changing = changingBy(changes)
  let closed: Promise<void> | undefined
  return {
    changes,
    asAdministrator: (given, database) =>
      changing(counted('administrator', given), async work => {
        if (database !== undefined) return withClient(asAdmin(database), work, unreachable)
        const client = await pool.connect().catch(unreachable)
        try {
          const result = await work(sessionOf(client))
          client.release()
          return result
        } catch (error) {
          // Closing the session ends its transaction.
          client.release(true)
          throw error
        }
      }),
    asLook(work) {
      const limits = { statement_timeout: lookMilliseconds, query_timeout: unansweredLookMilliseconds }
      return withClient({ ...asAdmin(administrationDatabase), ...limits }, counted('look', work), unreachable)
    },
    asLogin: (credential, database, work) =>
      withClient(settings(credential, database), counted('login', work), error => {
        throw error
      }),
    asGuard: (begin, given) => changing(counted('guard', given), work => guard.use(counted('guard', begin), work)),
    close() {
      closed ??= Promise.all([pool.end(), guard.end()]).then(() => undefined)
      return closed
    },
  }
}

type Work<T> = (session: Session) => Promise<T>

/** Work whose statements are counted for this purpose. */
function countedBy(count: CountStatement) {
  return <T>(purpose: Purpose, work: Work<T>): Work<T> =>
    ({ query }) =>
      work({
        query(sql, values) {
          count(purpose)
          return query(sql, values)
        },
      })
}

/** Does work that may change something, and notes what when it is over: whatever it was in the middle of has ended then. */
function changingBy({ note }: Pick<Changes, 'note'>) {
  return async <T>(work: Work<T>, run: (work: Work<T>) => Promise<T>): Promise<T> => {
    const names = new Set<string>()
    const naming: Work<T> = ({ query }) =>
      work({
        query(sql, values) {
          for (const name of namedIn(sql)) names.add(name)
          return query(sql, values)
        },
      })
    try {
      return await run(naming)
    } finally {
      note(names)
    }
  }
}

/** Opened when it is first used, and anew after it failed. */
function keptSession(config: pg.ClientConfig) {
  let kept: Promise<pg.Client> | undefined
  let isOver = false
  const open = async (begin: (session: Session) => Promise<void>): Promise<pg.Client> => {
    const client = new pg.Client(config)
    client.on('error', () => undefined)
    try {
      await client.connect()
      await begin(sessionOf(client))
      return client
    } catch (error) {
      await client.end().catch(() => undefined)
      throw error
    }
  }
  const drop = async (): Promise<void> => {
    const former = kept
    kept = undefined
    // One that was never opened has nothing to end; a connection that broke is closed already.
    await former?.then(client => client.end()).catch(() => undefined)
  }
  const use: Server['asGuard'] = async (begin, work) => {
    if (isOver) throw new AppError('unavailable', 'the connections to the server were closed')
    kept ??= open(begin)
    try {
      return await work(sessionOf(await kept))
    } catch (error) {
      await drop()
      throw error
    }
  }
  const end = (): Promise<void> => {
    isOver = true
    return drop()
  }
  return { use, end }
}

async function withClient<T>(
  config: pg.ClientConfig,
  work: (session: Session) => Promise<T>,
  onRefusal: (error: unknown) => never,
): Promise<T> {
  const client = new pg.Client(config)
  client.on('error', () => undefined)
  try {
    await client.connect().catch(onRefusal)
    return await work(sessionOf(client))
  } finally {
    // A connection that broke is closed already.
    await client.end().catch(() => undefined)
  }
}

function sessionOf(client: pg.ClientBase): Session {
  return {
    async query<R extends object>(sql: string, values: readonly unknown[] = []) {
      return (await client.query<R>(sql, [...values])).rows
    },
  }
}

const maxText = 200

function unreachable(error: unknown): never {
  const text = messageOf(error).slice(0, maxText)
  throw new AppError('unavailable', `the server cannot be reached as its administrator: ${text}`, { cause: error })
}

/** PostgreSQL's code of an error (SQLSTATE), if it is one of PostgreSQL. */
export function codeOf(error: unknown): string | undefined {
  const { code } = error instanceof pg.DatabaseError ? error : {}
  return code
}

/** Does the work in one transaction; an error ends the session, and so the transaction. */
export async function inTransaction<T>(session: Session, work: () => Promise<T>): Promise<T> {
  await session.query('BEGIN')
  const result = await work()
  await session.query('COMMIT')
  return result
}
