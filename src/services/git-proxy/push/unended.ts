// Pushes that have no end in the audit log because the process that ran them died: the leader records that what became of them
// is not known. The log itself says which they are, so nothing has to survive the crash but the log.

import type { Clock } from '../../../lib/clock.ts'
import { asObject, textAt } from '../../../lib/json/json-value.ts'
import type { Log } from '../../../lib/log.ts'
import { type Periodic, periodic } from '../../../lib/periodic.ts'
import type { AuditEntry } from '../../../store/audit/audit-chain.ts'
import type { AuditLog } from '../../../store/audit/audit-log.ts'
import { unknownEndRecord } from './records.ts'

export type UnendedDeps = {
  readonly audit: Pick<AuditLog, 'list' | 'head' | 'append'>
  readonly isLeader: () => boolean
  readonly clock: Clock
  readonly log: Pick<Log, 'error'>
}

/** Longer than a transfer may go on and its records be tried again, so that a push that goes on is never one of them. */
const unendedAfterMilliseconds = 75 * 60_000
const everyMilliseconds = 600_000
const pageSize = 1000
/** What a new leader reads. */
const firstEntries = 500_000
/** Refs of pushes that go on, of all replicas, are fewer. */
const maxOpen = 30_000

// Memory (pushes whose end was looked for): the sequence up to which every push has an end
//   life: while the replica leads
//   bound: one number
//   freshness: ten minutes
//   replicas: leader only; the next reads the newest 500,000 entries of the log first
/** Only on the leader. */
export function createUnendedPushes({ isLeader, clock, log, ...deps }: UnendedDeps): Periodic {
  let settled: number | undefined
  return periodic({
    ...{ name: 'ends of pushes', everyMilliseconds, clock, log },
    enabled: () => {
      if (!isLeader()) settled = undefined
      return isLeader()
    },
    async work(signal) {
      settled = await endUnended({ ...deps, clock, mayGoOn: () => isLeader() && !signal.aborted }, settled)
    },
  })
}

/**
 * One round over the entries after `settled`. Resolves to the sequence up to which every push has an end; undefined when the next
 * round has to begin anew. Idempotent; rejects when the log fails.
 */
export async function endUnended(
  { audit, clock, mayGoOn }: Pick<UnendedDeps, 'audit' | 'clock'> & { readonly mayGoOn: () => boolean },
  settled: number | undefined,
): Promise<number | undefined> {
  const before = new Date(clock.now().getTime() - unendedAfterMilliseconds)
  const { sequence: head } = await audit.head()
  const open = await openPushes(audit, { after: settled ?? Math.max(0, head - firstEntries), through: head })
  const [unended, going] = [open.filter(({ at }) => new Date(at) < before), open.filter(({ at }) => new Date(at) >= before)]
  for (const entry of unended) {
    // Two processes would record it twice.
    if (!mayGoOn()) return undefined
    await audit.append(unknownEndRecord(entry))
  }
  if (open.length >= maxOpen) return undefined
  const [oldest] = going
  return oldest === undefined ? head : oldest.sequence - 1
}

/** The intents in this part of the log that have no end in it, in the order of the log; of more than `maxOpen` the first. */
async function openPushes(
  audit: UnendedDeps['audit'],
  { after, through }: { readonly after: number; readonly through: number },
): Promise<readonly AuditEntry[]> {
  const open = new Map<string, AuditEntry>()
  for (let from: number | undefined = after; from !== undefined; ) {
    const entries = await audit.list({ actions: ['git.push-intended', 'git.pushed'], after: from, through, limit: pageSize })
    for (const entry of entries) {
      if (entry.action === 'git.pushed') open.delete(keyOf(entry))
      else if (open.size < maxOpen) open.set(keyOf(entry), entry)
    }
    from = entries.length < pageSize ? undefined : entries.at(-1)?.sequence
  }
  return [...open.values()]
}

function keyOf({ details }: AuditEntry): string {
  const facts = asObject(details)
  return JSON.stringify([textAt(facts, 'push'), textAt(facts, 'ref')])
}
