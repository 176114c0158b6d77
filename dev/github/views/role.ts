// The names of a role on a repository: the exact one, the older one of four, and the flags.
import { roleAtLeast } from '../state/access.ts'
import type { RepositoryRole } from '../state/accounts.ts'

/** The older field `permission` has four values; `role_name` has the exact one. */
export function olderWord(role: RepositoryRole): 'none' | 'read' | 'write' | 'admin' {
  switch (role) {
    case 'maintain':
      return 'write'
    case 'triage':
      return 'read'
    case 'none':
    case 'read':
    case 'write':
    case 'admin':
      return role
  }
}

/** Parses a role as requests name it (`pull`, `push` and so on); the exact names are accepted too. */
export const roleOfWord: Readonly<Record<string, RepositoryRole>> = {
  pull: 'read',
  push: 'write',
  read: 'read',
  triage: 'triage',
  write: 'write',
  maintain: 'maintain',
  admin: 'admin',
}

export function roleFlags(role: RepositoryRole) {
  return {
    admin: role === 'admin',
    maintain: roleAtLeast(role, 'maintain'),
    push: roleAtLeast(role, 'write'),
    triage: roleAtLeast(role, 'triage'),
    pull: roleAtLeast(role, 'read'),
  }
}
