// Owns: the `repository` event. Never changes anything.
import type { User } from '../../state/accounts.ts'
import type { Repository } from '../../state/repositories.ts'
import { eventFrame } from '../../views/event-frame.ts'
import type { ActionContext } from '../context.ts'

/** Sends `repository` with the given action and whatever that action adds to the payload. */
export function tellRepository(
  context: ActionContext,
  repository: Repository,
  sender: User,
  action: string,
  more: Readonly<Record<string, unknown>> = {},
): void {
  context.webhooks.emit({
    name: 'repository',
    action,
    accountId: repository.ownerId,
    repositoryId: repository.id,
    payload: { ...more, ...eventFrame(context, repository, sender) },
  })
}
