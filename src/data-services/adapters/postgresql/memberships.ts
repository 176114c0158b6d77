// Which roles a role is a member of.
import type { Session } from './server.ts'

/** Those that were granted to it itself. */
export async function rolesOf(session: Session, role: string): Promise<readonly string[]> {
  const rows = await session.query<{ name: string }>(
    `SELECT granted.rolname AS name FROM pg_auth_members
     JOIN pg_roles granted ON granted.oid = pg_auth_members.roleid JOIN pg_roles member ON member.oid = pg_auth_members.member
     WHERE member.rolname = $1`,
    [role],
  )
  return rows.map(row => row.name)
}
