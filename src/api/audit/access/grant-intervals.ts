// In which times a grant could give tokens, by the audit log alone: from the record of its approval to that of its end. Pure.
// What the log does not say is not known here: a grant that was approved gave no token while its Installation was suspended or
// a Halt stood, and both have records of their own.
import { asObject, listAt, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import type { LogEntry } from './log-entry.ts'

/** One decision about a grant for as long as it held. */
export type GrantInterval = {
  /** `namespace/name`. */
  readonly grant: string
  readonly uid: string
  readonly from: string
  /** Undefined while it holds. */
  readonly until: string | undefined
  /** Why it ended: the cause of `grant.ended`, or the check of another decision; who ended it, where that is known. */
  readonly end: { readonly cause: string; readonly by: string | undefined } | undefined
  readonly person: string
  readonly login: string | undefined
  readonly rule: string
  readonly subjects: readonly string[]
  readonly permissions: Readonly<Record<string, unknown>>
  readonly repositoryIds: readonly number[]
  readonly repositories: readonly string[]
  /** The number of the entry that approved it. */
  readonly sequence: number
}

const decided = 'grant.decided'
const ended = 'grant.ended'

/** The UIDs of the grants that the entries are about. */
export function grantUids(entries: readonly LogEntry[]): ReadonlySet<string> {
  return new Set(entries.filter(isDecision).flatMap(({ details }) => textAt(asObject(details), 'grantUid') ?? []))
}

function isDecision(entry: LogEntry): boolean {
  const action = textAt(entry, 'action')
  return action === decided || action === ended
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
    if (textAt(entry, 'action') === decided && textAt(entry, 'outcome') === 'allowed') open.set(uid, began(entry, uid))
  }
  return [...closed, ...open.values()].toSorted((a, b) => a.sequence - b.sequence)
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
  return { cause: textAt(details, 'check') ?? '', by: undefined }
}

/** From `since` on, before `until`; equal for one moment. */
export type Span = { readonly since: Date; readonly until: Date }

/** Whether the grant could give a token at some time of the span. */
export function isWithin({ from, until }: Pick<GrantInterval, 'from' | 'until'>, span: Span): boolean {
  const begins = Date.parse(from)
  const ends = until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until)
  return begins <= span.until.getTime() && ends > span.since.getTime()
}
