// Owns: the words for a role on a repository: the exact one, the older one of four, and the flags. Pure.
import { roleAtLeast } from '../state/access.ts'
import type { RepositoryRole } from '../state/accounts.ts'

/** The older field `permission` knows four words; `role_name` has the exact one. */
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

/** `pull`, `push` and the rest, as requests name a role; the exact words are taken too. */
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
