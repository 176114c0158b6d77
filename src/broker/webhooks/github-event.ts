// Parses the signed body of a webhook. The headers are not signed: the event that they name is used only when the body has its
// shape. Pure. The content is a hint: the controllers that it wakes read the truth from GitHub's API.
// Source: https://docs.github.com/en/webhooks/webhook-events-and-payloads
import { AppError } from '../../lib/errors.ts'
import { integerAt, isJsonObject, type JsonObject, objectAt, textAt } from '../../lib/json/json-value.ts'

/** What the broker reads of a delivery. Ids are positive integers; anything else in the body reads as undefined. */
export type GitHubEvent = {
  /** The name in the header, such as `push`; events without an entry in `shapes` affect nothing. */
  readonly event: string
  readonly action: string | undefined
  readonly installationId: number | undefined
  /** The App of the installation, where the body describes it. */
  readonly appId: number | undefined
  /** Who requested the installation that an owner approved. */
  readonly requesterId: number | undefined
  /** The organisation, or the account that was renamed. */
  readonly organizationId: number | undefined
  /** The one person whose membership or access changed; undefined when the event may concern everybody. */
  readonly memberId: number | undefined
  readonly repository: { readonly id: number; readonly fullName: string } | undefined
  /** The branch of a push, without refs/heads/; undefined for tags. */
  readonly branch: string | undefined
  /** The default branch of the repository of a push. */
  readonly defaultBranch: string | undefined
  /** The number of the pull request or issue that the event is about; undefined in the large body of a comment or review. */
  readonly pullRequest: number | undefined
  readonly senderId: number | undefined
}

type Shape = (body: JsonObject) => boolean

const every =
  (holds: (body: JsonObject, field: string) => boolean) =>
  (...fields: readonly string[]): Shape =>
  body =>
    fields.every(field => holds(body, field))
const hasText = every((body, field) => textAt(body, field) !== undefined)
const hasObject = every((body, field) => objectAt(body, field) !== undefined)
const lacks = every((body, field) => body[field] === undefined)
const hasAction = hasText('action')
const all =
  (...shapes: readonly Shape[]): Shape =>
  body =>
    shapes.every(shape => shape(body))

/** Enough of each event's shape to distinguish it from every other event that we act on. */
const shapes: ReadonlyMap<string, Shape> = new Map([
  ['ping', hasText('zen')],
  ['push', all(hasText('ref', 'before', 'after'), hasObject('repository'), lacks('action', 'pull_request'))],
  ['pull_request', all(hasAction, hasObject('pull_request', 'repository'), body => integerAt(body, 'number') !== undefined)],
  ['pull_request_review', all(hasAction, hasObject('review', 'pull_request', 'repository'))],
  // Also for comments on issues that are not pull requests: what tells them apart is deep in a part of the body that people
  // write.
  ['issue_comment', all(hasAction, hasObject('issue', 'comment', 'repository'))],
  [
    'installation',
    all(hasAction, hasObject('installation', 'sender'), lacks('repositories_added', 'changes', 'repository', 'ref')),
  ],
  ['installation_repositories', all(hasAction, hasObject('installation'), body => Array.isArray(body['repositories_added']))],
  ['installation_target', all(hasAction, hasObject('account', 'installation', 'changes'))],
  [
    'github_app_authorization',
    all(body => body['action'] === 'revoked', hasObject('sender'), lacks('installation', 'repository', 'ref')),
  ],
  ['organization', all(hasAction, hasObject('organization'), lacks('team', 'repository', 'pull_request'))],
  ['membership', all(hasAction, hasObject('team', 'member', 'organization'))],
  ['member', all(hasAction, hasObject('member', 'repository'))],
  ['team', all(hasAction, hasObject('team', 'organization'), lacks('member'))],
  ['repository', all(hasAction, hasObject('repository'), lacks('pull_request', 'ref', 'member', 'team', 'comment'))],
])

/**
 * `value`: a text, number or boolean; `shape`: only whether it is an object, a list or anything else; or the fields of an
 * object.
 */
type FieldSpec = 'value' | 'shape' | FieldSpecs
type FieldSpecs = { readonly [name: string]: FieldSpec }

/** The fields that are read of any event. The inbox stores these and nothing else. */
export const keptFields = {
  action: 'value',
  ref: 'value',
  before: 'value',
  after: 'value',
  zen: 'value',
  number: 'value',
  installation: { id: 'value', app_id: 'value' },
  requester: { id: 'value' },
  organization: { id: 'value' },
  repository: { id: 'value', full_name: 'value', default_branch: 'value' },
  sender: { id: 'value' },
  pull_request: { number: 'value' },
  review: 'shape',
  issue: { number: 'value' },
  comment: 'shape',
  repositories_added: 'shape',
  changes: 'shape',
  account: { id: 'value' },
  team: 'shape',
  member: { id: 'value' },
  membership: { user: { id: 'value' } },
} as const satisfies FieldSpecs

/** Fields that are as long as people like, with their texts: nothing in them is read of a large body. */
export const unboundedFields: ReadonlySet<string> = new Set<keyof typeof keptFields>(['pull_request', 'issue'])

function withOnly(json: JsonObject, specs: FieldSpecs): JsonObject {
  const kept: Record<string, unknown> = {}
  for (const name in specs) {
    const value = json[name]
    if (value !== undefined) kept[name] = reducedTo(value, specs[name])
  }
  return kept
}

function reducedTo(value: unknown, spec: FieldSpec | undefined): unknown {
  if (Array.isArray(value)) return []
  if (isJsonObject(value)) return typeof spec === 'object' ? withOnly(value, spec) : {}
  return spec === 'value' ? value : null
}

function idOf(json: JsonObject, field: string): number | undefined {
  const id = integerAt(objectAt(json, field), 'id')
  return id !== undefined && id > 0 ? id : undefined
}

/** A renamed organisation also comes with a membership, that of the person who renamed it. */
function memberOf(event: string, json: JsonObject): number | undefined {
  if (event === 'member' || event === 'membership') return idOf(json, 'member')
  const concernsMember = event === 'organization' && textAt(json, 'action')?.startsWith('member_') === true
  const membership = concernsMember ? objectAt(json, 'membership') : undefined
  return membership && idOf(membership, 'user')
}

/** Events about one pull request (a comment: or issue) → its number in their body. */
const pullRequestNumbers: ReadonlyMap<string, (json: JsonObject) => number | undefined> = new Map([
  ['pull_request', json => integerAt(json, 'number')],
  ['pull_request_review', json => integerAt(objectAt(json, 'pull_request'), 'number')],
  ['issue_comment', json => integerAt(objectAt(json, 'issue'), 'number')],
])

/** Whether the event is about one pull request alone, also when `pullRequest` does not say which. */
export function isAboutPullRequest({ event }: GitHubEvent): boolean {
  return pullRequestNumbers.has(event)
}

function branchOf(ref: string | undefined): string | undefined {
  const prefix = 'refs/heads/'
  return ref?.startsWith(prefix) && ref.length < 300 ? ref.slice(prefix.length) : undefined
}

function repositoryOf(json: JsonObject): GitHubEvent['repository'] {
  const id = idOf(json, 'repository')
  const fullName = textAt(objectAt(json, 'repository'), 'full_name')
  return id === undefined || fullName === undefined ? undefined : { id, fullName: fullName.slice(0, 300) }
}

/**
 * The event of a delivery, and `kept`: JSON with only `keptFields`, from which `parseGitHubEvent` reads the same event. Commit
 * messages, file names and people's addresses are not stored. Throws `invalid_request` for a body that is not a JSON object or
 * does not have the shape of the event that its header names. Events without a shape pass: they affect nothing.
 */
export function reduceDelivery(event: string, body: Buffer): { readonly event: GitHubEvent; readonly kept: Buffer } {
  const json = parseObject(body)
  return { event: eventOf(event, json), kept: Buffer.from(JSON.stringify(withOnly(json, keptFields))) }
}

/** The event of a stored body. Throws `invalid_request` as `reduceDelivery` does. */
export function parseGitHubEvent(event: string, body: Buffer): GitHubEvent {
  return eventOf(event, parseObject(body))
}

function eventOf(event: string, json: JsonObject): GitHubEvent {
  const hasShape = shapes.get(event)
  if (hasShape !== undefined && !hasShape(json))
    throw new AppError('invalid_request', `the body is not a ${event} event: header and body must agree`)
  return {
    event,
    action: textAt(json, 'action')?.slice(0, 60),
    installationId: idOf(json, 'installation'),
    requesterId: idOf(json, 'requester'),
    appId: integerAt(objectAt(json, 'installation'), 'app_id'),
    organizationId: idOf(json, 'organization') ?? idOf(json, 'account'),
    memberId: memberOf(event, json),
    repository: repositoryOf(json),
    branch: event === 'push' ? branchOf(textAt(json, 'ref')) : undefined,
    defaultBranch: event === 'push' ? textAt(objectAt(json, 'repository'), 'default_branch') : undefined,
    pullRequest: pullRequestNumbers.get(event)?.(json),
    senderId: idOf(json, 'sender'),
  }
}

function parseObject(body: Buffer): JsonObject {
  try {
    const json: unknown = JSON.parse(body.toString('utf8'))
    if (isJsonObject(json)) return json
  } catch (cause) {
    throw new AppError('invalid_request', 'the body is not JSON', { cause })
  }
  throw new AppError('invalid_request', 'the body is not a JSON object')
}
