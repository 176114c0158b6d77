// Which roles a role is a member of, and which are members of it.
import type { Session } from './server.ts'

/** Memberships of roles, with the two roles of each. */
export const joined = `pg_auth_members JOIN pg_roles granted ON granted.oid = pg_auth_members.roleid
  JOIN pg_roles member ON member.oid = pg_auth_members.member`

/** Those that were granted to it itself. */
export async function rolesOf(session: Session, role: string): Promise<readonly string[]> {
  const rows = await session.query<{ name: string }>(`SELECT granted.rolname AS name FROM ${joined} WHERE member.rolname = $1`, [
    role,
  ])
  return rows.map(row => row.name)
}

export type Member = { readonly name: string; readonly oid: number }

/** Those to which it was granted itself, with names like this. */
export function membersOf(session: Session, role: string, pattern: RegExp): Promise<readonly Member[]> {
  return session.query<Member>(
    `SELECT DISTINCT member.rolname AS name, member.oid FROM ${joined} WHERE granted.rolname = $1 AND member.rolname ~ $2`,
    [role, pattern.source],
  )
}
