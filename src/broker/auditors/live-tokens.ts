// Which tokens are live by the audit log, for pages: the same answer as `sekisho tokens list`, from a bounded part of the log.
import { liveTokens, liveTokensSince, type TokenLife } from '../../api/audit/access/token-lives.ts'
import type { AuditEntry } from '../../store/audit/audit-chain.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import type { AuditQuery } from '../../store/audit/audit-rows.ts'
import type { AuditScope } from './audit-readers.ts'

export type LiveTokens = {
  /** The newest first. */
  readonly live: readonly TokenLife[]
  /** Set when there was too much to read: tokens that were minted before are not among them. */
  readonly mintedSince: string | undefined
}

/** Repositories and people by their ids. */
export type TokensAbout = Pick<AuditQuery, 'repositoryId' | 'user'>

type Reader = Pick<AuditLog, 'list'>
type Filter = Omit<AuditQuery, 'limit' | 'after' | 'before'>
/** `oldest` is set when there are older ones. */
type Part = { readonly entries: readonly AuditEntry[]; readonly oldest: AuditEntry | undefined }

const maxEntries = 20_000
const pageEntries = 1000

/** Nothing outside of `scope` is read, whatever is asked. */
export async function readLiveTokens(audit: Reader, scope: AuditScope, now: Date, about: TokensAbout = {}): Promise<LiveTokens> {
  const needed = liveTokensSince(now)
  const place = { ...scope, since: scope.since === undefined || scope.since < needed ? needed : scope.since }
  const found = await newest(audit, { ...about, ...place, actions: ['token.minted', 'token.delivered', 'token.revoked'] })
  const isNarrow = about.repositoryId !== undefined || about.user !== undefined
  // What the platform itself used has an end that may name neither its repositories nor a person.
  const ends = isNarrow ? await newest(audit, { ...place, action: 'token.revoked', outcome: 'allowed' }) : undefined
  const [oldest] = [found.oldest, ends?.oldest].flatMap(one => one ?? []).toSorted((a, b) => b.sequence - a.sequence)
  const live = liveTokens([...found.entries, ...(ends?.entries ?? [])], now)
  return {
    // Everything about a token comes after its creation: of those that are left nothing is missing.
    live: live.filter(({ sequence }) => sequence >= (oldest?.sequence ?? 0)).toReversed(),
    mintedSince: oldest?.at,
  }
}

/** The newest entries, in the order of the log. */
async function newest(audit: Reader, filter: Filter): Promise<Part> {
  const all: AuditEntry[] = []
  while (all.length < maxEntries) {
    const last = all.at(-1)
    const page = await audit.list({ ...filter, ...(last && { before: last.sequence }), limit: pageEntries })
    all.push(...page)
    if (page.length < pageEntries) return { entries: all.toReversed(), oldest: undefined }
  }
  return { entries: all.toReversed(), oldest: all.at(-1) }
}
