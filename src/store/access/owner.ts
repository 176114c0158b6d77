// What the owner of the database does for the processes, which never have its rights: applies the migrations, makes the roles,
// and gives each its rights. Run again it changes nothing but passwords, which it sets to those that it is given.
import type pg from 'pg'
import { type Environment, optional, readSettings, secretSetting } from '../../lib/config.ts'
import { AppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { scramVerifier } from '../../lib/text/scram-verifier.ts'
import { migrate, migrationsToApply } from '../database/migrate.ts'
import { grantStatements, pruneGrantStatements } from './grants.ts'
import { allSchemas, pruneReads, pruneRole, roleNames, roleUsers, type Schema, schemas, tableRights } from './rights.ts'

const password = (schema: Schema) =>
  optional(
    secretSetting(
      `SEKISHO_${schema.toUpperCase()}_DATABASE_PASSWORD`,
      `the password to set for the role ${roleNames[schema]} (${roleUsers[schema]}); without it the role must exist, and keeps its password`,
    ),
  )

/** Every environment variable of the owner's program; no process of the platform reads them. */
export const ownerSettings = {
  url: secretSetting(
    'SEKISHO_DATABASE_OWNER_URL',
    'PostgreSQL by the role that owns the database, such as postgresql://owner:…@db/sekisho',
  ),
  broker: password('broker'),
  desk: password('desk'),
  audit: password('audit'),
  prune: optional(
    secretSetting(
      'SEKISHO_PRUNE_DATABASE_PASSWORD',
      `the password to set for the role ${pruneRole} (the program that cuts the audit log); without it no such role is made`,
    ),
  ),
}

export type Passwords = Readonly<Partial<Record<Schema | 'prune', SecretString | undefined>>>

/** Throws `invalid_configuration` that names every variable at fault. */
export function readOwnerSettings(environment: Environment): { readonly url: SecretString; readonly passwords: Passwords } {
  const { url, ...passwords } = readSettings(ownerSettings, environment)
  return { url, passwords }
}

/**
 * What is to be done, as lines for people. Reads only. Throws `invalid_configuration` when a role is missing and has no
 * password.
 */
export async function plannedAsOwner(pool: pg.Pool, passwords: Passwords): Promise<readonly string[]> {
  const pending = await migrationsToApply(pool)
  const existing = await existingRoles(pool)
  const given = schemas.filter(schema => passwords[schema] !== undefined)
  const missing = schemas.filter(schema => !existing.has(roleNames[schema]))
  const without = missing.filter(schema => !given.includes(schema)).map(schema => ownerSettings[schema].name)
  if (without.length > 0)
    throw new AppError(
      'invalid_configuration',
      `configuration is not usable:\n- ${without.map(name => `${name} is not set, and its role does not exist: the role is made with it`).join('\n- ')}`,
    )
  return [
    ...pending.map(({ name }) => `apply migration ${name}`),
    ...missing.map(schema => `create role ${roleNames[schema]}`),
    ...given.map(schema => `set the password of ${roleNames[schema]}`),
    ...(passwords.prune === undefined ? [] : prunePlan(existing.has(pruneRole))),
    ...(await rightsToChange(pool)),
  ]
}

function prunePlan(exists: boolean): readonly string[] {
  return [...(exists ? [] : [`create role ${pruneRole}`]), `set the password of ${pruneRole}`]
}

/** Does what `plannedAsOwner` says, and returns it. Rejects without a change for a database of a newer version. */
export async function applyAsOwner(pool: pg.Pool, passwords: Passwords, log: Log): Promise<readonly string[]> {
  const plan = await plannedAsOwner(pool, passwords)
  const verifiers = ([...schemas, 'prune'] as const).flatMap(name => {
    const given = passwords[name]
    const role = name === 'prune' ? pruneRole : roleNames[name]
    return given === undefined ? [] : [[role, scramVerifier(given, ownerSettings[name].name)] as const]
  })
  await migrate(pool, log)
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await client.query('SELECT pg_advisory_xact_lock($1)', [grantsLock])
    const existing = await existingRoles(client)
    for (const [role, verifier] of verifiers)
      await client.query(`${existing.has(role) ? 'ALTER' : 'CREATE'} ROLE ${role} LOGIN PASSWORD '${verifier}'`)
    const prunes = existing.has(pruneRole) || passwords.prune !== undefined
    for (const statement of [...grantStatements(), ...(prunes ? pruneGrantStatements() : [])]) await client.query(statement)
    await client.query('COMMIT')
    client.release()
  } catch (error) {
    // Closing the session ends its transaction.
    client.release(true)
    throw error
  }
  return plan
}

/** Any number that no other lock of this database uses: two of these programs at once take turns. */
const grantsLock = 7_312_002

async function existingRoles(client: pg.Pool | pg.PoolClient): Promise<ReadonlySet<string>> {
  const wanted = [...schemas.map(schema => roleNames[schema]), pruneRole]
  const { rows } = await client.query<{ name: string }>('SELECT rolname AS name FROM pg_roles WHERE rolname = ANY ($1)', [wanted])
  return new Set(rows.map(({ name }) => name))
}

const grantedQuery = `SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee) END AS role, privilege_type AS verb, nspname || '.' || relname AS object
  FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid CROSS JOIN aclexplode(relacl)
  WHERE nspname = ANY ($1) AND (grantee = 0 OR pg_get_userbyid(grantee) = ANY ($2))`

async function rightsToChange(pool: pg.Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ role: string; verb: string; object: string }>(grantedQuery, [
    allSchemas,
    [...schemas.map(schema => roleNames[schema]), pruneRole],
  ])
  const hasPrune = (await existingRoles(pool)).has(pruneRole)
  const sentence = (role: string, verb: string, object: string): string => `${verb} on ${object} to ${role}`
  const granted = new Set(rows.map(({ role, verb, object }) => sentence(role, verb, object)))
  const wanted = new Set([
    ...schemas.flatMap(schema =>
      Object.entries(tableRights[schema]).flatMap(([table, verbs]) =>
        verbs.map(verb => sentence(roleNames[schema], verb, table)),
      ),
    ),
    ...(hasPrune ? pruneReads.map(table => sentence(pruneRole, 'SELECT', table)) : []),
  ])
  return [
    ...[...wanted.difference(granted)].map(right => `grant ${right}`),
    ...[...granted.difference(wanted)].map(right => `revoke ${right}`),
  ].sort()
}
