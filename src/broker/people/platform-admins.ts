// Decides who administers the platform: whoever the cluster's RBAC allows the verb `administer` on `platforms.sekisho.dev`.
import { platformAdministration } from '../../api/names.ts'
import type { AccessReviews } from './access-reviews.ts'
import type { Identity } from './tenant-access.ts'

export type PlatformAdmins = {
  /** Rejects with `unavailable` when the API server does not answer: without an answer, no person is an admin. */
  readonly includes: (identity: Identity) => Promise<boolean>
}

/** By the answers of RBAC. */
export function createPlatformAdmins({ allows }: AccessReviews): PlatformAdmins {
  return { includes: identity => allows(identity, platformAdministration) }
}
