// What a webhook says, read from its signed body. The headers are not signed: the event named there is believed only when the body has
// its shape. Pure; the parse boundary of webhook JSON. Meaning is a hint: whoever is woken reads the truth from GitHub's API.
// Source: https://docs.github.com/en/webhooks/webhook-events-and-payloads
import { AppError } from '../../lib/errors.ts'

export type GitHubEvent = {
  readonly event: string
  readonly action: string | undefined
  readonly installationId: number | undefined
  /** Who had asked for an installation that an owner approved. */
  readonly requesterId: number | undefined
  readonly organizationId: number | undefined
  readonly repository: { readonly id: number; readonly fullName: string } | undefined
  /** Of a push: the branch without refs/heads/; undefined for tags. */
  readonly branch: string | undefined
  readonly pullRequest: number | undefined
  readonly senderId: number | undefined
}

type Json = Readonly<Record<string, unknown>>
type Shape = (body: Json) => boolean

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): value is string => typeof value === 'string'
const has =
  (...fields: readonly string[]): Shape =>
  body =>
    fields.every(field => isObject(body[field]))
const both =
  (...shapes: readonly Shape[]): Shape =>
  body =>
    shapes.every(shape => shape(body))
const acted: Shape = body => isText(body['action'])
const without =
  (...fields: readonly string[]): Shape =>
  body =>
    fields.every(field => body[field] === undefined)

/** Enough of each event's shape to tell it from every other one that we act on. */
const shapes: Readonly<Record<string, Shape>> = {
  ping: body => isText(body['zen']),
  push: both(
    body => isText(body['ref']) && isText(body['before']) && isText(body['after']),
    has('repository'),
    without('action', 'pull_request'),
  ),
  pull_request: both(acted, has('pull_request', 'repository'), body => Number.isSafeInteger(body['number'])),
  installation: both(acted, has('installation', 'sender'), without('repositories_added', 'changes', 'repository', 'ref')),
  installation_repositories: both(acted, has('installation'), body => Array.isArray(body['repositories_added'])),
  installation_target: both(acted, has('account', 'installation', 'changes')),
  github_app_authorization: both(
    body => body['action'] === 'revoked',
    has('sender'),
    without('installation', 'repository', 'ref'),
  ),
  organization: both(acted, has('organization'), without('team', 'repository', 'pull_request')),
  membership: both(acted, has('team', 'member', 'organization')),
  member: both(acted, has('member', 'repository')),
  team: both(acted, has('team', 'organization'), without('member')),
  repository: both(acted, has('repository'), without('pull_request', 'ref', 'member', 'team')),
}

/** `value`: a text, number or truth value; `shape`: only whether it is an object, a list or anything else; or members of an object. */
type Look = 'value' | 'shape' | Looks
type Looks = { readonly [name: string]: Look }

/** All that is looked at in any event. */
export const looksAt = {
  action: 'value',
  ref: 'value',
  before: 'value',
  after: 'value',
  zen: 'value',
  number: 'value',
  installation: { id: 'value' },
  requester: { id: 'value' },
  organization: { id: 'value' },
  repository: { id: 'value', full_name: 'value' },
  sender: { id: 'value' },
  pull_request: 'shape',
  repositories_added: 'shape',
  changes: 'shape',
  account: 'shape',
  team: 'shape',
  member: 'shape',
} as const satisfies Looks

function withOnly(json: Json, looks: Looks): Json {
  const kept: Record<string, unknown> = {}
  for (const name in looks) {
    const value = json[name]
    if (value !== undefined) kept[name] = lookedAt(value, looks[name])
  }
  return kept
}

function lookedAt(value: unknown, look: Look | undefined): unknown {
  if (Array.isArray(value)) return []
  if (isObject(value)) return typeof look === 'object' ? withOnly(value, look) : {}
  return look === 'value' ? value : null
}

function idIn(value: unknown): number | undefined {
  if (!isObject(value)) return undefined
  const { id } = value
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : undefined
}

function branchOf(ref: unknown): string | undefined {
  const prefix = 'refs/heads/'
  return isText(ref) && ref.startsWith(prefix) && ref.length < 300 ? ref.slice(prefix.length) : undefined
}

function repositoryOf(value: unknown): GitHubEvent['repository'] {
  const id = idIn(value)
  if (id === undefined || !isObject(value) || !isText(value['full_name'])) return undefined
  return { id, fullName: value['full_name'].slice(0, 300) }
}

/**
 * Throws `invalid_request` for what is no JSON object or not of the shape its header claims. Unknown events pass with no meaning.
 * `kept` is JSON that says the same as `body` to this function and holds nothing that it does not look at: commit messages, names of
 * files and addresses of people have no reason to be stored.
 */
export function readGitHubEvent(event: string, body: Buffer): { readonly facts: GitHubEvent; readonly kept: Buffer } {
  const json = parsed(body)
  return { facts: factsOf(event, json), kept: Buffer.from(JSON.stringify(withOnly(json, looksAt))) }
}

/** As `readGitHubEvent`, for what was kept. */
export function githubEvent(event: string, body: Buffer): GitHubEvent {
  return factsOf(event, parsed(body))
}

function factsOf(event: string, json: Json): GitHubEvent {
  const shape = shapes[event]
  if (shape !== undefined && !shape(json))
    throw new AppError('invalid_request', `the body is no ${event} event: header and body must agree`)
  const installation = json['installation']
  const pullRequest = json['number']
  return {
    event,
    action: isText(json['action']) ? json['action'].slice(0, 60) : undefined,
    installationId: idIn(installation),
    requesterId: idIn(json['requester']),
    organizationId: idIn(json['organization']),
    repository: repositoryOf(json['repository']),
    branch: event === 'push' ? branchOf(json['ref']) : undefined,
    pullRequest: event === 'pull_request' && typeof pullRequest === 'number' ? pullRequest : undefined,
    senderId: idIn(json['sender']),
  }
}

function parsed(body: Buffer): Json {
  try {
    const json: unknown = JSON.parse(body.toString('utf8'))
    if (isObject(json)) return json
  } catch (cause) {
    throw new AppError('invalid_request', 'the body is no JSON', { cause })
  }
  throw new AppError('invalid_request', 'the body is no JSON object')
}
