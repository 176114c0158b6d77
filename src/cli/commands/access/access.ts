// `sekisho access`: who could reach something, by which grant and rule, and who did, from the audit log. The state at a time
// follows from the log alone; it is as true as `sekisho audit verify` says the log is.

import { subjectOfAccount } from '../../../api/application-account.ts'
import { collectDeliveries, type Delivered, type Deliveries } from '../../../api/audit/access/deliveries.ts'
import {
  deliveredSince,
  type GrantInterval,
  grantIntervals,
  grantUids,
  isWithin,
  type Span,
} from '../../../api/audit/access/grant-intervals.ts'
import { shortActor, shortPerson } from '../../../api/audit/actor-text.ts'
import { serviceAccountUser } from '../../../api/builtin/service-account-user.ts'
import { permissionsText } from '../../../api/github/repository-grant/access-text.ts'
import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import { json, type PlainFormat, table } from '../../output.ts'
import { saidTime, timeExamples } from '../../times/said-time.ts'
import { inZone, ownZone } from '../../times/zoned-time.ts'
import type { Entry } from '../audit/entry.ts'
import { readEntries, streamEntries } from '../audit/entry-stream.ts'
import { personOf, repositoryOf, timeRange } from '../audit/filters.ts'
import { shortTime } from '../audit/words.ts'
import type { CommandContext } from '../context.ts'

export type AccessOptions = {
  readonly namespace?: string
  readonly at?: string
  readonly since?: string
  readonly until?: string
  readonly output: PlainFormat
}
type Asked = AccessOptions & { readonly argument: string }

/** What is asked about: the filter of the log that finds it, and which intervals are about it. */
type Subject = {
  readonly query: Readonly<Record<string, string>>
  /** The filter of deliveries, where it is another one. */
  readonly deliveries?: Readonly<Record<string, string>>
  readonly isAbout: (interval: GrantInterval) => boolean
}

/** Grants about which each has a request of its own; the platform answers 300 in a minute. */
const maxGrants = 250

/** Prints who could reach a repository, and who did. */
export async function accessRepository(context: CommandContext, options: Asked): Promise<void> {
  const id = await repositoryOf(context, options.argument, options)
  const isAbout = ({ repositoryIds }: GrantInterval) => repositoryIds.includes(Number(id))
  return answer(context, options, { query: { repository: id }, isAbout })
}

/** Prints what was reached in the name of a person. */
export async function accessPerson(context: CommandContext, options: Asked): Promise<void> {
  const person = await personOf(context, options.argument, options)
  return answer(context, options, { query: { person }, isAbout: interval => interval.person === person })
}

/** Prints what a ServiceAccount could reach, and what it did. */
export async function accessWorkload(context: CommandContext, options: Asked): Promise<void> {
  const [namespace = '', name = '', ...more] = options.argument.split('/')
  if (namespace === '' || name === '' || more.length > 0)
    throw new AppError('invalid_request', 'write the workload as NAMESPACE/SERVICEACCOUNT')
  return answer(context, options, {
    query: { namespace },
    deliveries: { namespace, actor: serviceAccountUser(namespace, name) },
    isAbout: ({ subjects }) => subjects.includes(subjectOfAccount(name)),
  })
}

async function answer(context: CommandContext, options: AccessOptions, subject: Subject): Promise<void> {
  const span = spanOf(context, options)
  const scope = defined({ namespace: options.namespace })
  const decisions = await decisionsOf(context, { ...scope, ...subject.query })
  const could = grantIntervals(decisions).filter(interval => subject.isAbout(interval) && isWithin(interval, span))
  const received = collectDeliveries()
  const times = { since: deliveredSince(span).toISOString(), until: span.until.toISOString() }
  const query = new URLSearchParams({ ...scope, ...subject.query, ...subject.deliveries, ...times, what: 'deliveries' })
  for await (const entries of streamEntries(context, { query, after: 0 })) for (const entry of entries) received.add(entry)
  print(context, options, { span, could, received })
}

/** A moment, the range that was asked for, or now. */
function spanOf(context: CommandContext, { at, since, until }: AccessOptions): Span {
  const now = context.clock.now()
  if (at !== undefined) {
    if (since !== undefined || until !== undefined)
      throw new AppError('invalid_request', '--at is one time, and --since and --until are a range: give one of both')
    const said = saidTime(at, { now, zone: ownZone() })
    if (said === undefined) throw new AppError('invalid_request', `--at: ${at} is no time; say it as in: ${timeExamples}`)
    if (said.at > now) throw new AppError('invalid_request', '--at is in the future')
    context.say(`at ${said.text}`)
    return { since: said.at, until: said.at }
  }
  if (since === undefined && until === undefined) return { since: now, until: now }
  const range = timeRange(context, defined({ since, until }))
  return { since: range.since ?? new Date(0), until: range.until ?? now }
}

/** All decisions about every grant that the filter finds: one that denies has no repositories. */
async function decisionsOf(context: CommandContext, filter: Readonly<Record<string, string>>): Promise<readonly Entry[]> {
  const found = await entriesBy(context, { ...filter, what: 'decisions' })
  const uids = grantUids(found)
  if (filter['repository'] === undefined && filter['person'] === undefined) return found
  if (uids.size > maxGrants)
    throw new AppError('invalid_request', `${uids.size} grants are too many for one answer: name a --namespace`)
  const all: Entry[] = []
  for (const uid of uids)
    all.push(...(await entriesBy(context, { ...defined({ namespace: filter['namespace'] }), uid, what: 'decisions' })))
  return all.toSorted((a, b) => a.sequence - b.sequence)
}

function entriesBy(context: CommandContext, filter: Readonly<Record<string, string>>): Promise<readonly Entry[]> {
  return readEntries(context, new URLSearchParams(filter))
}

type Answer = { readonly span: Span; readonly could: readonly GrantInterval[]; readonly received: Deliveries }

function print({ terminal }: CommandContext, { output }: AccessOptions, { span, could, received }: Answer): void {
  const { since, until } = span
  const did = received.groups()
  if (output === 'json') {
    const times = { since: since.toISOString(), until: until.toISOString() }
    terminal.result(json({ ...times, could, did, notListed: received.left }))
    return
  }
  const moment = since < until ? '' : ` at ${inZone(since, ownZone())}`
  const parts = [
    `Could${moment}:`,
    could.length === 0 ? 'nobody: no grant was approved' : table(couldHeaders, could.map(couldCells)),
    '',
    moment === '' ? 'Did:' : 'Had received a token within the hour before:',
    did.length === 0 ? 'nobody: no token was delivered' : table(didHeaders, did.map(didCells)),
    ...(received.left === 0 ? [] : [`and ${received.left} further deliveries: narrow the range`]),
  ]
  terminal.result(parts.join('\n'))
}

const couldHeaders = ['GRANT', 'WHO', 'PERMISSIONS', 'IN THE NAME OF', 'RULE', 'FROM (UTC)', 'UNTIL (UTC)'] as const

function couldCells({ grant, subjects, permissions, person, login, rule, from, until, end }: GrantInterval): readonly string[] {
  const ended =
    until === undefined ? 'still' : [shortTime(until), end?.cause, end?.by && `by ${end.by}`].filter(Boolean).join(' ')
  return [grant, subjects.join(','), permissionsText(permissions), shortPerson(person, login), rule, shortTime(from), ended]
}

const didHeaders = ['WHO', 'POD', 'FROM', 'GRANT', 'IN THE NAME OF', 'TIMES', 'FIRST (UTC)', 'LAST (UTC)'] as const

function didCells({ who, pod, address, grant, person, login, times, first, last }: Delivered): readonly string[] {
  return [
    shortActor(who),
    pod ?? '-',
    address ?? '-',
    grant,
    shortPerson(person, login),
    String(times),
    shortTime(first),
    shortTime(last),
  ]
}
