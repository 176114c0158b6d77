// By what entries of the audit log are found: the keys of the index `entries_keys_idx`, which the database computes from an entry
// by `audit.keys_of` (prisma/migrations/0002_records). Here they are spelled for queries. Pure.

/** What an entry is about; all that is given must hold. */
export type AuditAbout = {
  /** A repository, by its id on GitHub: what it was called does not matter. */
  readonly repositoryId?: number
  /** Who acted, in whose name access is, or who ended it. */
  readonly user?: string
  /** The grant by its UID, or another object that changed or ended. */
  readonly uid?: string
}

/** The keys that an entry has when it is about all of it. */
export function auditKeys({ repositoryId, user, uid }: AuditAbout): readonly string[] {
  return [
    ...(repositoryId === undefined ? [] : [`repository:${repositoryId}`]),
    ...(user === undefined ? [] : [`user:${user}`]),
    ...(uid === undefined ? [] : [`uid:${uid}`]),
  ]
}
