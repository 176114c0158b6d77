// What an action needs to change the state and to report the change.
import type { KeyObject } from 'node:crypto'
import type { Faults } from '../faults/faults.ts'
import type { GitStore } from '../git/store.ts'
import type { Organization, User } from '../state/accounts.ts'
import type { Repository } from '../state/repositories.ts'
import type { StateStore } from '../state/store.ts'
import type { View } from '../views/view.ts'
import type { Webhooks } from '../webhooks/dispatcher.ts'

export type ActionContext = View & {
  readonly store: StateStore
  readonly git: GitStore
  readonly webhooks: Pick<Webhooks, 'emit' | 'emitTo' | 'emitToApp'>
  readonly faults: Pick<Faults, 'take' | 'refuseToken'>
  /** Signs stateless installation tokens. */
  readonly signingKey: KeyObject
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Somebody acts in a repository. The caller has checked the permissions. */
export type RepositoryAction = {
  readonly context: ActionContext
  readonly repository: Repository
  /** The `sender` of the webhooks that follow. */
  readonly sender: User
}

/** Somebody acts in an organization. The caller has checked the permissions. */
export type OrganizationAction = {
  readonly context: ActionContext
  readonly organization: Organization
  /** The `sender` of the webhooks that follow. */
  readonly sender: User
}
