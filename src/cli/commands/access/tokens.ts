// `sekisho tokens`: which installation tokens are live, and whose one token is. From the audit log; the token itself is never
// sent, only its SHA-256.

import {
  deliveriesOf,
  holderText,
  isLive,
  liveTokens,
  liveTokensSince,
  type TokenLife,
  tokenLives,
} from '../../../api/audit/access/token-lives.ts'
import { shortPerson } from '../../../api/audit/actor-text.ts'
import { permissionsText } from '../../../api/github/repository-grant/access-text.ts'
import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import { age, json, type PlainFormat, table } from '../../output.ts'
import { type Entry, entriesOf } from '../audit/entry.ts'
import { readEntries } from '../audit/entry-stream.ts'
import { filterQuery } from '../audit/filters.ts'
import type { CommandContext } from '../context.ts'
import { hashFromInput } from './token-hash.ts'

type ListOptions = {
  readonly namespace?: string
  readonly repository?: string
  readonly person?: string
  readonly output: PlainFormat
}

/** Prints the tokens that GitHub may accept now, the newest last. */
export async function tokensList(context: CommandContext, { output, ...filters }: ListOptions): Promise<void> {
  const now = context.clock.now()
  const query = await filterQuery(context, { ...filters, what: 'tokens' })
  query.set('since', liveTokensSince(now).toISOString())
  const entries = await readEntries(context, query)
  const live = liveTokens([...entries, ...(await endsBeside(context, filters, query))], now)
  if (output === 'json') return context.terminal.result(json(live))
  if (live.length === 0) return context.say('no token is live')
  context.terminal.result(
    table(
      headers,
      live.map(life => cells(life, now)),
    ),
  )
}

/** What the platform itself used has an end that may name neither its repositories nor a person: ends are read without both. */
async function endsBeside(
  context: CommandContext,
  { namespace, repository, person }: Omit<ListOptions, 'output'>,
  query: URLSearchParams,
): Promise<readonly Entry[]> {
  if (repository === undefined && person === undefined) return []
  const ends = { ...defined({ namespace }), action: 'token.revoked', outcome: 'allowed', since: query.get('since') ?? '' }
  return readEntries(context, new URLSearchParams(ends))
}

const headers = ['TOKEN', 'AGE', 'REPOSITORIES', 'FOR', 'IN THE NAME OF', 'DELIVERED', 'LAST'] as const

function cells(life: TokenLife, now: Date): readonly string[] {
  const delivered = deliveriesOf(life)
  return [
    life.token,
    age(life.mintedAt, now),
    life.repositories.join(',') || '-',
    holderText(life),
    personText(life),
    String(delivered?.times ?? 0),
    delivered === undefined ? '-' : age(delivered.last, now),
  ]
}

function personText({ person, login }: Pick<TokenLife, 'person' | 'login'>): string {
  if (person === undefined) return '-'
  return shortPerson(person, login)
}

type ShowOptions = {
  /** The id of a token of the last hour. */
  readonly argument?: string
  readonly hash?: string
  readonly tokenStdin?: boolean
  readonly namespace?: string
  readonly output: PlainFormat
}

/** Prints whose a token is. Rejects with `not_found` for one that the log does not know. */
export async function tokensShow(context: CommandContext, options: ShowOptions): Promise<void> {
  const { argument, hash, tokenStdin, namespace, output } = options
  if ([argument !== undefined, hash !== undefined, tokenStdin === true].filter(Boolean).length !== 1)
    throw new AppError(
      'invalid_request',
      'name the token by its id or by --hash, or pass it with --token-stdin: the token itself is never on the command line',
    )
  const scope = defined({ namespace })
  const created =
    argument === undefined ? await byHash(context, scope, hash ?? (await hashFromInput())) : await byId(context, scope, argument)
  const { grantUid } = created
  // What the platform uses itself has no grant, and one request as its life.
  const since =
    grantUid === undefined || grantUid === '' ? { what: 'tokens', until: created.expiresAt } : { uid: grantUid, what: 'tokens' }
  const query = new URLSearchParams({ ...scope, ...since, since: created.mintedAt })
  const entries = await readEntries(context, query)
  const life = tokenLives(entries).find(({ token }) => token === created.token) ?? created
  context.terminal.result(output === 'json' ? json(life) : story(life, context.clock.now()))
}

type Scope = Readonly<Record<string, string>>

async function byHash(context: CommandContext, scope: Scope, hashedToken: string): Promise<TokenLife> {
  const page = new URLSearchParams({ ...scope, hashedToken, limit: '1' })
  const [life] = tokenLives(entriesOf(await (await context.api()).lines('/api/v1/audit', page)))
  if (life !== undefined) return life
  throw new AppError('not_found', 'no token of this platform has that SHA-256, or you may not read about it')
}

async function byId(context: CommandContext, scope: Scope, id: string): Promise<TokenLife> {
  const since = liveTokensSince(context.clock.now()).toISOString()
  const life = tokenLives(await readEntries(context, new URLSearchParams({ ...scope, what: 'tokens', since }))).find(
    ({ token }) => token === id,
  )
  if (life !== undefined) return life
  throw new AppError(
    'not_found',
    `no token of the last hour has the id ${id}: sekisho tokens list shows ids; name an older one by --hash`,
  )
}

function story(life: TokenLife, now: Date): string {
  const state = isLive(life, now) ? 'live: sekisho halt token ends it' : life.end === undefined ? 'expired' : 'revoked'
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['token', life.token],
    ['state', state],
    ['sha-256', life.hashedToken],
    ['minted', `${life.mintedAt} (entry ${life.sequence})`],
    ['expires', life.expiresAt],
    ['for', life.subject === undefined ? life.actor : `${life.subject} in ${life.namespace}`],
    ['grant', life.grant],
    ['in the name of', personText(life)],
    ['rule', life.rule],
    ['pull request', life.pullRequest === undefined ? undefined : `#${life.pullRequest}`],
    ['repositories', life.repositories.join(', ')],
    ['permissions', permissionsText(life.permissions)],
    ['made by', life.madeBy && `App ${life.madeBy.appId}, installation ${life.madeBy.installationId}`],
    ...life.deliveries.map(({ to, pod, address, times, first }): [string, string] => [
      'delivered',
      [`${first} to ${to}`, pod && `pod ${pod}`, address && `from ${address}`, times > 1 && `${times} times`]
        .filter(Boolean)
        .join(', '),
    ]),
    ['ended', life.end && `${life.end.at}: ${life.end.cause}`],
  ]
  const shown = facts.filter((fact): fact is readonly [string, string] => fact[1] !== undefined && fact[1] !== '')
  const width = Math.max(...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}
