// In which times a grant could give tokens for which repositories, by the audit log alone: from the record of its approval to
// that of its end, without the times in which it gave no access, such as by a Halt or a suspended Installation. Pure.
import { asObject, listAt, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import type { LogEntry } from './log-entry.ts'

/** What a grant gave, for as long as nothing of it changed. */
export type GrantInterval = {
  /** `namespace/name`. */
  readonly grant: string
  readonly uid: string
  readonly from: string
  /** Undefined while it holds. */
  readonly until: string | undefined
  /** Why it ended: the cause in the record, or the check of another decision; who ended it, where that is known. */
  readonly end: { readonly cause: string; readonly by: string | undefined } | undefined
  readonly person: string
  readonly login: string | undefined
  readonly rule: string
  readonly subjects: readonly string[]
  readonly permissions: Readonly<Record<string, unknown>>
  readonly repositoryIds: readonly number[]
  readonly repositories: readonly string[]
  /** The number of the entry with which it began. */
  readonly sequence: number
}

const decided = 'grant.decided'
const ended = 'grant.ended'
const accessChanged = 'grant.access-changed'
const repositoryChanged = 'grant.repository-changed'
const actions: ReadonlySet<string | undefined> = new Set([decided, ended, accessChanged, repositoryChanged])
/** Each of them says what the grant gives from then on, when it is allowed. */
const begins: ReadonlySet<string | undefined> = new Set([decided, accessChanged])

/** The UIDs of the grants that the entries are about. */
export function grantUids(entries: readonly LogEntry[]): ReadonlySet<string> {
  return new Set(entries.filter(isDecision).flatMap(({ details }) => textAt(asObject(details), 'grantUid') ?? []))
}

function isDecision(entry: LogEntry): boolean {
  return actions.has(textAt(entry, 'action'))
}

/** `entries`: in the order of the log, with all decisions about each grant of which they have one. */
export function grantIntervals(entries: readonly LogEntry[]): readonly GrantInterval[] {
  const open = new Map<string, GrantInterval>()
  const closed: GrantInterval[] = []
  for (const entry of entries.filter(isDecision)) {
    const uid = textAt(asObject(entry['details']), 'grantUid') ?? ''
    const before = open.get(uid)
    open.delete(uid)
    if (before !== undefined) closed.push({ ...before, until: textAt(entry, 'at'), end: endOf(entry) })
    const next = after(entry, uid, before)
    if (next !== undefined) open.set(uid, next)
  }
  return [...closed, ...open.values()].toSorted((a, b) => a.sequence - b.sequence)
}

/** Undefined when the grant gives nothing from the entry on. A repository counts only while it gives something. */
function after(entry: LogEntry, uid: string, before: GrantInterval | undefined): GrantInterval | undefined {
  const action = textAt(entry, 'action')
  const allowed = textAt(entry, 'outcome') === 'allowed'
  if (begins.has(action) && allowed) return began(entry, uid)
  if (action !== repositoryChanged || before === undefined) return undefined
  const changed = began(entry, uid)
  const { repositoryIds, repositories } = changed
  const kept = before.repositoryIds.filter(id => !repositoryIds.includes(id))
  const names = before.repositories.filter(name => !repositories.includes(name))
  return {
    ...before,
    from: changed.from,
    repositoryIds: allowed ? [...kept, ...repositoryIds] : kept,
    repositories: allowed ? [...names, ...repositories] : names,
    sequence: changed.sequence,
  }
}

function began(entry: LogEntry, uid: string): GrantInterval {
  const details = asObject(entry['details'])
  return {
    grant: (textAt(entry, 'object') ?? '').replace(/^RepositoryGrant\//, ''),
    uid,
    from: textAt(entry, 'at') ?? '',
    until: undefined,
    end: undefined,
    person: textAt(details, 'person') ?? textAt(entry, 'actor') ?? '',
    login: textAt(details, 'login'),
    rule: textAt(details, 'rule') ?? '',
    subjects: objectsAt(details, 'subjects').map(subject => `${textAt(subject, 'kind')}/${textAt(subject, 'name')}`),
    permissions: objectAt(details, 'permissions') ?? {},
    repositoryIds: listAt(details, 'repositoryIds').filter(id => typeof id === 'number'),
    repositories: objectsAt(details, 'repositories').flatMap(one => textAt(one, 'fullName') ?? []),
    sequence: entry.sequence,
  }
}

function endOf(entry: LogEntry): GrantInterval['end'] {
  const details = asObject(entry['details'])
  if (textAt(entry, 'action') === ended)
    return { cause: textAt(details, 'cause') ?? '', by: textAt(details, 'doerLogin') ?? textAt(details, 'doer') }
  return { cause: textAt(details, 'check') ?? textAt(details, 'cause') ?? '', by: undefined }
}

/** From `since` on, before `until`; equal for one moment. */
export type Span = { readonly since: Date; readonly until: Date }

/** A token lives for an hour: who got one before then has none. */
export const tokenLifeMilliseconds = 3_600_000

/** From when on deliveries count: whoever received a token within its life before one moment had it then. */
export function deliveredSince({ since, until }: Span): Date {
  return since < until ? since : new Date(since.getTime() - tokenLifeMilliseconds)
}

/** Whether the grant could give a token at some time of the span. */
export function isWithin({ from, until }: Pick<GrantInterval, 'from' | 'until'>, span: Span): boolean {
  const begins = Date.parse(from)
  const ends = until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until)
  return begins <= span.until.getTime() && ends > span.since.getTime()
}
