// The webhooks that the emulator sends. The contract test requires each of them and no other; the generated reference lists them.

/** Event to its actions; an event without actions has none. */
export const webhookEvents: Readonly<Record<string, readonly string[]>> = {
  deployment: ['created'],
  deployment_status: ['created'],
  fork: [],
  github_app_authorization: ['revoked'],
  installation: ['created', 'deleted', 'new_permissions_accepted', 'suspend', 'unsuspend'],
  installation_repositories: ['added', 'removed'],
  installation_target: ['renamed'],
  issue_comment: ['created', 'deleted', 'edited'],
  member: ['added', 'edited', 'removed'],
  membership: ['added', 'removed'],
  organization: ['member_added', 'member_invited', 'member_removed', 'renamed'],
  pull_request: [
    'closed',
    'converted_to_draft',
    'edited',
    'labeled',
    'opened',
    'ready_for_review',
    'reopened',
    'synchronize',
    'unlabeled',
  ],
  pull_request_review: ['submitted'],
  push: [],
  repository: ['archived', 'created', 'deleted', 'edited', 'privatized', 'publicized', 'renamed', 'transferred', 'unarchived'],
  status: [],
  team: ['added_to_repository', 'created', 'deleted', 'edited', 'removed_from_repository'],
}

/** Events that every App receives without a subscription; the other events need one. */
export const subscribedEvents: readonly string[] = Object.keys(webhookEvents).filter(
  event => event !== 'github_app_authorization' && !event.startsWith('installation'),
)

/** `event` or `event.action` of every webhook, sorted. */
export function webhookNames(): readonly string[] {
  return Object.entries(webhookEvents)
    .flatMap(([event, actions]) => (actions.length === 0 ? [event] : actions.map(action => `${event}.${action}`)))
    .sort()
}
