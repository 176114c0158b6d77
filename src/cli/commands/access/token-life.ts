// The life of tokens, from their records in the audit log. Pure.

import { deliveryIn } from '../../../api/audit/access/deliveries.ts'
import { asObject, integerAt, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import type { Entry } from '../audit/entry.ts'

/** One token, as the log knows it. */
export type TokenLife = {
  /** The id in the registry of the platform. */
  readonly token: string
  readonly hashedToken: string | undefined
  readonly mintedAt: string
  readonly expiresAt: string
  readonly namespace: string
  /** `namespace/name`; what the platform uses itself has none. */
  readonly grant: string | undefined
  readonly grantUid: string | undefined
  /** `Kind/name` of what it was made for. */
  readonly subject: string
  readonly person: string | undefined
  readonly login: string | undefined
  readonly rule: string | undefined
  readonly pullRequest: number | undefined
  readonly repositories: readonly string[]
  readonly permissions: Readonly<Record<string, unknown>>
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
}

/** The tokens whose creation is among the entries, which are in the order of the log. */
export function tokenLives(entries: Iterable<Entry>): readonly TokenLife[] {
  const lives = new Map<string, TokenLife>()
  for (const entry of entries) {
    const details = asObject(entry['details'])
    const token = textAt(details, 'token') ?? ''
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

function mintedIn(entry: Entry, token: string): TokenLife {
  const details = asObject(entry['details'])
  const subject = objectAt(details, 'subject')
  const object = textAt(entry, 'object') ?? ''
  return {
    token,
    hashedToken: textAt(details, 'hashedToken'),
    mintedAt: textAt(entry, 'at') ?? '',
    expiresAt: textAt(details, 'expiresAt') ?? '',
    namespace: textAt(entry, 'namespace') ?? '',
    grant: object.startsWith('RepositoryGrant/') ? object.slice('RepositoryGrant/'.length) : undefined,
    grantUid: textAt(details, 'grantUid'),
    subject: `${textAt(subject, 'kind') ?? ''}/${textAt(subject, 'name') ?? ''}`,
    person: textAt(details, 'person'),
    login: textAt(details, 'login'),
    rule: textAt(details, 'rule'),
    pullRequest: integerAt(details, 'pullRequest'),
    repositories: repositoriesIn(details),
    permissions: objectAt(details, 'permissions') ?? {},
    deliveries: [],
    end: undefined,
    sequence: entry.sequence,
  }
}

/** By name where the record has it, else by number. */
function repositoriesIn(details: ReturnType<typeof asObject>): readonly string[] {
  const names = objectsAt(details, 'repositories').flatMap(one => textAt(one, 'fullName') ?? [])
  const ids = details?.['repositoryIds']
  return names.length > 0 || !Array.isArray(ids) ? names : ids.map(String)
}

function withDelivery(before: readonly TokenDelivery[], entry: Entry): readonly TokenDelivery[] {
  const { who: to, pod, address, times, first, last } = deliveryIn(entry)
  const one: TokenDelivery = { to, pod, address, times, first, last }
  const same = before.findIndex(each => each.to === to && each.pod === pod && each.address === address)
  return same === -1
    ? [...before, one]
    : before.map((each, index) => (index === same ? { ...each, times: each.times + one.times, last: one.last } : each))
}

function endIn(entry: Entry): TokenLife['end'] {
  const details = asObject(entry['details'])
  const reason = textAt(entry, 'reason') ?? ''
  return { at: textAt(entry, 'at') ?? '', cause: textAt(details, 'cause') ?? reason, causeAt: textAt(details, 'causeAt') }
}
