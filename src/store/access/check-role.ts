// What the role of a connection may do, compared with what its process needs: a role that may less is named and waited for, one
// that may more is refused. It looks at every role that the connection could become (SET ROLE), and at columns as well as
// tables. It reads catalogs only.
// Source: https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-ACCESS
import type pg from 'pg'
import { AppError } from '../../lib/errors.ts'
import {
  type AnySchema,
  allSchemas,
  rightsOn,
  roleNames,
  roleUsers,
  type Schema,
  schemas,
  type TableVerb,
  tableRights,
  tableVerbs,
} from './rights.ts'

/** One right of one table. `usable`: by the connection as it is. `attainable`: also by SET ROLE or on some of its columns. */
export type TableFact = {
  readonly schema: AnySchema
  readonly table: string
  readonly verb: TableVerb
  readonly usable: boolean
  readonly attainable: boolean
}

/** What the catalogs say of the role of a connection. */
export type RoleFacts = {
  readonly role: string
  /** Powers beyond tables: `is a superuser`, `owns schema audit`; sentences that follow the name of the role. */
  readonly powers: readonly string[]
  readonly tables: readonly TableFact[]
  /** A standby, or a database or role that is set to read only. */
  readonly readOnly: boolean
}

const columnVerbs: readonly TableVerb[] = ['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']

/** Every role that the connection is or can become; of a superuser only itself. */
const acting = `acting AS (
  SELECT oid, rolname, rolsuper, rolcreaterole, rolreplication FROM pg_roles
  WHERE rolname = current_user OR (pg_has_role(current_user, oid, 'MEMBER') AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)))`

const powersQuery = `WITH ${acting}
  SELECT 'is a superuser' AS power FROM acting WHERE rolsuper
  UNION SELECT 'can create roles' FROM acting WHERE rolcreaterole
  UNION SELECT 'can replicate the database' FROM acting WHERE rolreplication
  UNION SELECT format('is a member of %s', rolname) FROM acting
    WHERE rolname IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files')
  UNION SELECT format('owns database %s', datname) FROM pg_database JOIN acting ON datdba = acting.oid WHERE datname = current_database()
  UNION SELECT format('owns schema %s', nspname) FROM pg_namespace JOIN acting ON nspowner = acting.oid WHERE nspname = ANY ($1)
  UNION SELECT format('can create objects in schema %s', nspname) FROM pg_namespace, acting
    WHERE nspname = ANY ($1) AND NOT rolsuper AND has_schema_privilege(acting.oid, pg_namespace.oid, 'CREATE')
  UNION SELECT format('owns %s.%s', nspname, relname) FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid
    JOIN acting ON relowner = acting.oid WHERE nspname = ANY ($1)
  ORDER BY power`

const tablesQuery = `WITH ${acting}
  SELECT nspname AS schema, relname AS table, verb,
    has_schema_privilege(current_user, nspname, 'USAGE') AND has_table_privilege(current_user, pg_class.oid, verb) AS usable,
    bool_or(has_table_privilege(acting.oid, pg_class.oid, verb)
      OR (verb = ANY ($3) AND has_any_column_privilege(acting.oid, pg_class.oid, verb))) AS attainable
  FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid CROSS JOIN acting CROSS JOIN unnest($2::text[]) AS verb
  WHERE nspname = ANY ($1) AND relkind IN ('r', 'p', 'v', 'm', 'f')
  GROUP BY nspname, relname, verb, pg_class.oid
  ORDER BY array_position($2::text[], verb)`

const stateQuery = `SELECT current_user AS role, pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "readOnly"`

/** Rejects as the driver does when the server does not answer. */
export async function readRole(client: pg.PoolClient): Promise<RoleFacts> {
  const state = await client.query<{ role: string; readOnly: boolean }>(stateQuery)
  const powers = await client.query<{ power: string }>(powersQuery, [allSchemas])
  const tables = await client.query<TableFact>(tablesQuery, [allSchemas, tableVerbs, columnVerbs])
  const { role = '', readOnly = true } = state.rows[0] ?? {}
  return { role, readOnly, powers: powers.rows.map(({ power }) => power), tables: tables.rows }
}

/** The rights that the role needs and does not have, such as `UPDATE on broker.users`. */
export function missingRights({ tables }: RoleFacts, schema: Schema): readonly string[] {
  const usable = new Set(tables.filter(fact => fact.usable).map(rightOf))
  return Object.entries(tableRights[schema])
    .flatMap(([table, verbs]) => verbs.map(verb => `${verb} on ${table}`))
    .filter(right => !usable.has(right))
}

/**
 * What the role could do and must not: rights that it does not need in another schema, changes of the audit log, and powers
 * over the database.
 */
export function excessiveRights({ powers, tables }: RoleFacts, schema: Schema): readonly string[] {
  const excessive = tables.filter(fact => fact.attainable && !isOwn(fact, schema))
  return [...powers, ...grouped(excessive).map(right => `may ${right}`)]
}

/** Of its own tables a role may do more than it needs, except to the audit log. */
function isOwn({ schema, table, verb }: TableFact, own: Schema): boolean {
  return (schema === own && schema !== 'audit') || rightsOn(own, `${schema}.${table}`).includes(verb)
}

function grouped(facts: readonly TableFact[]): readonly string[] {
  const byTable = Map.groupBy(facts, ({ schema, table }) => `${schema}.${table}`)
  return [...byTable]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([table, some]) => `${some.map(({ verb }) => verb).join(', ')} ${table}`)
}

function rightOf({ schema, table, verb }: TableFact): string {
  return `${verb} on ${schema}.${table}`
}

/** Throws `invalid_configuration` that names the variable, the role and what it could do. */
export function refuseExcess(facts: RoleFacts, schema: Schema, variable: string): void {
  const excess = excessiveRights(facts, schema)
  if (excess.length === 0) return
  throw new AppError(
    'invalid_configuration',
    `${variable} connects as the role ${facts.role}, which ${excess.slice(0, 5).join('; ')}${excess.length > 5 ? '; and more' : ''}. ${othersRole(facts, schema)}Set it to a role with the rights of ${roleNames[schema]} and no other (deploy/postgres/roles.sql).`,
  )
}

/** Names whose role it is, when it has all rights of another schema. */
function othersRole(facts: RoleFacts, schema: Schema): string {
  const other = schemas.find(one => one !== schema && missingRights(facts, one).length === 0)
  return other === undefined ? '' : `That is the role of ${roleUsers[other]}, and this one is for ${roleUsers[schema]}. `
}
