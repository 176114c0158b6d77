// The life of tokens, and which are live, from their records in the audit log. The one reading of that: commands, pages and the
// end of a tenant use it. Pure.

import { asObject, integerAt, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { compareText } from '../../../lib/text/compare-text.ts'
import { deliveryIn } from './deliveries.ts'
import { tokenLifeMilliseconds } from './grant-intervals.ts'
import type { LogEntry } from './log-entry.ts'

/** One token, as the log knows it. */
export type TokenLife = {
  /** The id in the registry of the platform. */
  readonly token: string
  readonly hashedToken: string | undefined
  readonly mintedAt: string
  /** As GitHub said. Older records of what the platform uses itself do not have it: then an hour after it was minted. */
  readonly expiresAt: string
  readonly namespace: string
  /** Who asked for it: a ServiceAccount, or a part of the platform. */
  readonly actor: string
  /** `namespace/name`; what the platform uses itself has none. */
  readonly grant: string | undefined
  readonly grantUid: string | undefined
  /** `Kind/name` of what it was made for; undefined for what the platform uses itself. */
  readonly subject: string | undefined
  readonly person: string | undefined
  readonly login: string | undefined
  readonly rule: string | undefined
  readonly pullRequest: number | undefined
  readonly repositories: readonly string[]
  readonly permissions: Readonly<Record<string, unknown>>
  /** The App and the installation on GitHub that made it: of a pool, not always those that the grant names. */
  readonly madeBy: { readonly appId: number; readonly installationId: number } | undefined
  readonly deliveries: readonly TokenDelivery[]
  /** Undefined while GitHub may accept it. */
  readonly end: { readonly at: string; readonly cause: string; readonly causeAt: string | undefined } | undefined
  /** The number of the entry about its creation. */
  readonly sequence: number
}

export type TokenDelivery = {
  readonly to: string
  readonly pod: string | undefined
  readonly address: string | undefined
  readonly times: number
  readonly first: string
  readonly last: string
  /** The number of the last entry about it. */
  readonly sequence: number
}

/** How far GitHub's clock may be ahead of ours: its tokens then end later than an hour after their record. */
const clocksDifferMilliseconds = 5 * 60_000

/** What is recorded before has nothing about tokens that are live. */
export function liveTokensSince(now: Date): Date {
  return new Date(now.getTime() - tokenLifeMilliseconds - clocksDifferMilliseconds)
}

/** The tokens that GitHub may accept at that time, in the order in which they were minted. Of `entries` see `tokenLives`. */
export function liveTokens(entries: Iterable<LogEntry>, now: Date): readonly TokenLife[] {
  return tokenLives(entries).filter(life => isLive(life, now))
}

/**
 * The tokens whose creation is among the entries. These are in the order of the log; ends that were read apart may follow, also
 * twice.
 */
export function tokenLives(entries: Iterable<LogEntry>): readonly TokenLife[] {
  const lives = new Map<string, TokenLife>()
  for (const entry of entries) {
    // A record without an id is about no other one.
    const token = textAt(asObject(entry['details']), 'token') ?? `entry ${entry.sequence}`
    const action = textAt(entry, 'action')
    const life = lives.get(token)
    if (action === 'token.minted') lives.set(token, mintedIn(entry, token))
    else if (life !== undefined && action === 'token.delivered')
      lives.set(token, { ...life, deliveries: withDelivery(life.deliveries, entry) })
    else if (life !== undefined && action === 'token.revoked' && textAt(entry, 'outcome') === 'allowed')
      lives.set(token, { ...life, end: endIn(entry) })
  }
  return [...lives.values()]
}

/** Whether GitHub may accept it at that time. */
export function isLive({ expiresAt, end }: Pick<TokenLife, 'expiresAt' | 'end'>, now: Date): boolean {
  return end === undefined && Date.parse(expiresAt) > now.getTime()
}

/** Who uses it, such as `ServiceAccount acme/ci`: what the platform uses itself has its part of the platform. */
export function holderText({ subject, namespace, actor }: Pick<TokenLife, 'subject' | 'namespace' | 'actor'>): string {
  const [kind, name] = subject?.split('/') ?? []
  return kind === undefined ? actor : `${kind} ${namespace}/${name}`
}

/** How often it was passed to somebody, and the last time; undefined when it never was. */
export function deliveriesOf({ deliveries }: Pick<TokenLife, 'deliveries'>) {
  const [last] = deliveries.toSorted((a, b) => compareText(b.last, a.last))
  return last && { times: deliveries.reduce((sum, { times }) => sum + times, 0), last: last.last, sequence: last.sequence }
}

function mintedIn(entry: LogEntry, token: string): TokenLife {
  const details = asObject(entry['details'])
  const subject = objectAt(details, 'subject')
  const object = textAt(entry, 'object') ?? ''
  const mintedAt = textAt(entry, 'at') ?? ''
  return {
    token,
    hashedToken: textAt(details, 'hashedToken'),
    mintedAt,
    expiresAt: textAt(details, 'expiresAt') ?? anHourAfter(mintedAt),
    namespace: textAt(entry, 'namespace') ?? '',
    actor: textAt(entry, 'actor') ?? '',
    grant: object.startsWith('RepositoryGrant/') ? object.slice('RepositoryGrant/'.length) : undefined,
    grantUid: textAt(details, 'grantUid'),
    subject: subject && `${textAt(subject, 'kind') ?? ''}/${textAt(subject, 'name') ?? ''}`,
    person: textAt(details, 'person'),
    login: textAt(details, 'login'),
    rule: textAt(details, 'rule'),
    pullRequest: integerAt(details, 'pullRequest'),
    repositories: repositoriesIn(details),
    permissions: objectAt(details, 'permissions') ?? {},
    madeBy: madeByIn(details),
    deliveries: [],
    end: undefined,
    sequence: entry.sequence,
  }
}

function madeByIn(details: ReturnType<typeof asObject>): TokenLife['madeBy'] {
  const [appId, installationId] = [integerAt(details, 'appId'), integerAt(details, 'installationId')]
  return appId === undefined || installationId === undefined ? undefined : { appId, installationId }
}

function anHourAfter(at: string): string {
  const begin = Date.parse(at)
  return Number.isNaN(begin) ? '' : new Date(begin + tokenLifeMilliseconds).toISOString()
}

/** By name where the record has it, else by number. */
function repositoriesIn(details: ReturnType<typeof asObject>): readonly string[] {
  const names = objectsAt(details, 'repositories').flatMap(one => textAt(one, 'fullName') ?? [])
  const ids = details?.['repositoryIds']
  return names.length > 0 || !Array.isArray(ids) ? names : ids.map(String)
}

function withDelivery(before: readonly TokenDelivery[], entry: LogEntry): readonly TokenDelivery[] {
  const { who: to, pod, address, times, first, last } = deliveryIn(entry)
  const { sequence } = entry
  const one: TokenDelivery = { to, pod, address, times, first, last, sequence }
  const same = before.findIndex(each => each.to === to && each.pod === pod && each.address === address)
  return same === -1
    ? [...before, one]
    : before.map((each, index) => (index === same ? { ...each, times: each.times + one.times, last: one.last, sequence } : each))
}

function endIn(entry: LogEntry): TokenLife['end'] {
  const details = asObject(entry['details'])
  const reason = textAt(entry, 'reason') ?? ''
  return { at: textAt(entry, 'at') ?? '', cause: textAt(details, 'cause') ?? reason, causeAt: textAt(details, 'causeAt') }
}
