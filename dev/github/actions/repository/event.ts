// The `repository` webhook.
import { eventFrame } from '../../views/event-frame.ts'
import type { RepositoryAction } from '../context.ts'

/** Sends `repository` with the given action and the additional fields of that action. */
export function emitRepository(
  { context, repository, sender }: RepositoryAction,
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
