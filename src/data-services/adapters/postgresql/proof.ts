// What a new login can do, and what it cannot: tried with its own password, as its tenant would try, and read from the
// catalog for every other database of the server. It judges nothing.
import { randomBytes } from 'node:crypto'
import { messageOf } from '../../../lib/errors.ts'
import type { ProofFacts } from '../../proofs/judge.ts'
import { namesOf, quoted } from './identifiers.ts'
import { type Credential, codeOf, type Server, type Session } from './server.ts'

/** SQLSTATE: what the server says to somebody who has no right, or no password that it knows. */
const refusals = new Set(['42501', '28000', '28P01'])
const maxText = 200
/** Databases that are tried, besides those that the catalog says it may enter. */
const triedDatabases = 3

/** Leaves nothing behind. Rejects when the server cannot be reached, or does not answer as to a right. */
export async function observe(server: Server, id: string, credential: Credential): Promise<ProofFacts> {
  const { database } = namesOf(id)
  const said = await server.asAdministrator(session => catalogOf(session, credential.username, database))
  const entered = [...said.open]
  for (const other of said.tried) if (await canEnter(server, credential, other)) entered.push(other)
  const common = { attributes: said.attributes, memberships: said.memberships, entered: [...new Set(entered)] }
  try {
    const own = await server.asLogin(credential, database, session => tryInside(session, namesOf(id).owner))
    return { ...common, ...own, refused: undefined }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return {
      ...common,
      actsAs: undefined,
      canWrite: false,
      canStore: false,
      canOwn: false,
      refused: messageOf(error).slice(0, maxText),
    }
  }
}

type Catalog = {
  readonly attributes: readonly string[]
  readonly memberships: readonly string[]
  readonly open: readonly string[]
  readonly tried: readonly string[]
}

/** What the login is is found once: asked for each database, it would cost databases × roles. */
async function catalogOf(session: Session, login: string, database: string): Promise<Catalog> {
  const [row] = await session.query<Catalog>(
    `WITH held AS MATERIALIZED (
       SELECT role.* FROM pg_roles mine JOIN pg_roles role ON pg_has_role(mine.oid, role.oid, 'MEMBER') WHERE mine.rolname = $1),
     others AS MATERIALIZED (SELECT oid, datname::text AS name FROM pg_database WHERE datname <> $2 AND datallowconn)
     SELECT
       ARRAY(SELECT DISTINCT attribute FROM held CROSS JOIN LATERAL (VALUES
         ('superuser', held.rolsuper), ('createdb', held.rolcreatedb), ('createrole', held.rolcreaterole),
         ('replication', held.rolreplication), ('bypassrls', held.rolbypassrls)) AS had (attribute, "isSet")
         WHERE had."isSet" ORDER BY 1) AS attributes,
       ARRAY(SELECT rolname::text FROM held LIMIT 100) AS memberships,
       ARRAY(SELECT name FROM others
         WHERE EXISTS (SELECT FROM held WHERE has_database_privilege(held.oid, others.oid, 'CONNECT')) LIMIT 100) AS open,
       ARRAY(SELECT name FROM others
         ORDER BY name IN ('postgres', 'template1') DESC, random() LIMIT ${triedDatabases}) AS tried`,
    [login, database],
  )
  return row ?? { attributes: [], memberships: [], open: [], tried: [] }
}

async function canEnter(server: Server, credential: Credential, database: string): Promise<boolean> {
  try {
    await server.asLogin(credential, database, session => session.query('SELECT'))
    return true
  } catch (error) {
    // It was dropped meanwhile: 3D000.
    if (isRefusal(error) || codeOf(error) === '3D000') return false
    throw error
  }
}

async function tryInside(session: Session, owner: string) {
  const [me] = await session.query<{ role: string }>('SELECT current_user::text AS role')
  const name = `proof_${randomBytes(8).toString('hex')}`
  const canWrite = await isAllowed(session, `CREATE SCHEMA ${quoted(name)}`)
  const canStore = await isAllowed(session, 'SELECT pg_catalog.lo_creat(-1)')
  const canOwn = await isAllowed(session, `SET ROLE ${quoted(owner)}`)
  return { actsAs: me?.role, canWrite, canStore, canOwn }
}

/** Tries a statement and takes it back. */
async function isAllowed(session: Session, statement: string): Promise<boolean> {
  await session.query('BEGIN READ WRITE')
  try {
    await session.query(statement)
    return true
  } catch (error) {
    if (isRefusal(error)) return false
    throw error
  } finally {
    await session.query('ROLLBACK')
  }
}

function isRefusal(error: unknown): boolean {
  return refusals.has(codeOf(error) ?? '')
}
