// Which role of the database may do what with which table: the one list from which deploy/postgres/roles.sql is generated, the
// owner's program grants, and the processes check themselves. A table that is not listed can be used by nobody. Data only.

/** The rights that PostgreSQL knows for tables. Source: https://www.postgresql.org/docs/current/ddl-priv.html */
export const tableVerbs = ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'] as const
export type TableVerb = (typeof tableVerbs)[number]

/** The schemas of the platform that have a role of their own, one for each level of trust. */
export const schemas = ['broker', 'desk', 'audit'] as const
export type Schema = (typeof schemas)[number]

/** Every schema: that of the builds has no role of its own, because one process writes what another one shows. */
export const allSchemas = [...schemas, 'builds'] as const
export type AnySchema = (typeof allSchemas)[number]

const change = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const
/** Keys are created and sealed again, never deleted: whoever deletes one makes the platform make another. */
const keep = ['SELECT', 'INSERT', 'UPDATE'] as const
const append = ['SELECT', 'INSERT'] as const
const read = ['SELECT'] as const

/**
 * What the role of each schema may do with which tables: those of its own schema, and build logs, which the controllers write
 * and the broker shows. No role has another right outside of its own schema.
 */
export const tableRights: Readonly<Record<Schema, Readonly<Record<`${AnySchema}.${string}`, readonly TableVerb[]>>>> = {
  broker: {
    'broker.attempts': change,
    'broker.deliveries': change,
    'broker.leases': change,
    'broker.login_states': change,
    'broker.oidc_records': change,
    'broker.onboardings': change,
    'broker.platform_keys': keep,
    'broker.sessions': change,
    'broker.users': change,
    'builds.builds': read,
    'builds.chunks': read,
  },
  desk: {
    'desk.platform_keys': keep,
    'desk.tokens': change,
    'builds.builds': change,
    'builds.chunks': change,
    'builds.images': change,
  },
  audit: { 'audit.entries': append },
}

/** The rights of a role on one table; none on a table that is not listed for it. */
export function rightsOn(role: Schema, table: `${AnySchema}.${string}`): readonly TableVerb[] {
  return tableRights[role][table] ?? []
}

/**
 * The role that has the rights of a schema. The broker runs as the first, the controllers as the second; both write the log as
 * the third.
 */
export const roleNames: Readonly<Record<Schema, string>> = {
  broker: 'sekisho_broker',
  desk: 'sekisho_desk',
  audit: 'sekisho_audit',
}

/** Who connects as the role of a schema, for people. */
export const roleUsers: Readonly<Record<Schema, string>> = {
  broker: 'the broker',
  desk: 'the controllers',
  audit: 'broker and controllers, for the audit log',
}

/**
 * The role of the program that cuts the audit log (src/retention). It is there only where the owner made it, reads the log, and
 * may do one thing to it: call the function, which removes what an entry of the log approves.
 */
export const pruneRole = 'sekisho_prune'
export const pruneFunction = 'audit.prune(BIGINT, BIGINT, TEXT)'
export const pruneReads = ['audit.entries'] as const

/** Every role reads which migrations are applied, and none writes it. */
export const migrationsTable = '_prisma_migrations'
