// The database of the production form: the server on this host, the owner of the database, one role for each level of trust,
// and the URLs by which each pod reaches it. Passwords are made once and kept in the Secrets that use them.
import { randomBytes } from 'node:crypto'
import type { Progress } from '../../cluster/progress.ts'
import type { ClusterSettings } from '../../cluster/settings.ts'
import { databaseAuthority, databaseHost, ensurePlatformServer } from '../../postgres/platform-server.ts'
import type { Kubectl } from '../kubectl.ts'
import { secretData } from './secret.ts'

const databaseName = 'sekisho'
/** Where every pod that uses the database finds its authority. */
const authorityPath = '/etc/sekisho/secrets/database-ca.crt'

/** Role → the Secret and the entry in which its URL is kept. */
const roles = {
  owner: ['sekisho-database-owner', 'database-owner-url'],
  broker: ['sekisho-broker-secrets', 'database-url'],
  desk: ['sekisho-controllers-secrets', 'database-url'],
  audit: ['sekisho-broker-secrets', 'audit-database-url'],
} as const

type Role = keyof typeof roles
type OfRoles = { readonly [R in Role]: string }

export type DatabaseAccess = {
  readonly urls: OfRoles
  readonly passwords: OfRoles
  /** PEM; absent when the pods trust it anyway. */
  readonly authority?: string
}

/**
 * Starts the server unless it runs, and makes the database and its owner unless they exist. The migration makes the other
 * roles.
 */
export async function ensureDatabase(kubectl: Kubectl, settings: ClusterSettings, progress: Progress): Promise<DatabaseAccess> {
  const server = await ensurePlatformServer(settings, progress)
  const passwords = await keptPasswords(kubectl)
  await server.query('postgres', ownerSql(passwords.owner))
  return { urls: urlsOf(passwords), passwords, authority: await databaseAuthority(settings) }
}

/** Access to a database of the user's, which is there with its owner. The other roles get passwords of their own. */
export async function givenDatabase(
  kubectl: Kubectl,
  { ownerUrl, authority }: { readonly ownerUrl: string; readonly authority: string | null },
): Promise<DatabaseAccess> {
  const passwords = { ...(await keptPasswords(kubectl)), owner: decodeURIComponent(new URL(ownerUrl).password) }
  const url = (role: Role): string =>
    givenUrl(ownerUrl, authority !== null, role === 'owner' ? undefined : { role, password: passwords[role] })
  const urls = { owner: url('owner'), broker: url('broker'), desk: url('desk'), audit: url('audit') }
  return { urls, passwords, ...(authority === null ? {} : { authority }) }
}

function givenUrl(
  ownerUrl: string,
  hasAuthority: boolean,
  as: { readonly role: Role; readonly password: string } | undefined,
): string {
  const url = new URL(ownerUrl)
  if (as !== undefined) {
    url.username = `sekisho_${as.role}`
    url.password = as.password
  }
  if (hasAuthority) url.searchParams.set('sslrootcert', authorityPath)
  return url.href
}

async function keptPasswords(kubectl: Kubectl): Promise<OfRoles> {
  const passwordOf = async (role: Role): Promise<string> => {
    const [name, entry] = roles[role]
    const url = (await secretData(kubectl, name))[entry]
    return url === undefined ? randomBytes(24).toString('hex') : new URL(url).password
  }
  return {
    owner: await passwordOf('owner'),
    broker: await passwordOf('broker'),
    desk: await passwordOf('desk'),
    audit: await passwordOf('audit'),
  }
}

function urlsOf(passwords: OfRoles): OfRoles {
  const url = (role: Role): string =>
    `postgresql://sekisho_${role}:${passwords[role]}@${databaseHost}:5432/${databaseName}?sslmode=verify-full&sslrootcert=${authorityPath}`
  return { owner: url('owner'), broker: url('broker'), desk: url('desk'), audit: url('audit') }
}

/** For psql. The password is hexadecimal: nothing in it has to be quoted. */
function ownerSql(password: string): string {
  return `
SELECT 'CREATE ROLE sekisho_owner LOGIN CREATEROLE' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'sekisho_owner') \\gexec
ALTER ROLE sekisho_owner PASSWORD '${password}';
SELECT 'CREATE DATABASE ${databaseName} OWNER sekisho_owner' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '${databaseName}') \\gexec
`
}
