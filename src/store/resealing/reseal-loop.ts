// Seals again by itself, on the replica that leads, what a former key of the keyring sealed: level-triggered, so that whoever
// puts a new key first has nothing else to start. It records in the audit log what the keyring sealed, by which the broker
// knows it of the other processes too.
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { platformNamespace } from '../../api/names.ts'
import type { Clock } from '../../lib/clock.ts'
import { isJsonObject } from '../../lib/json/json-value.ts'
import type { Log } from '../../lib/log.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { Resealing, SealedCounts } from './resealing.ts'

/** The processes that have a keyring. */
export const sealingProcesses = ['broker', 'controllers'] as const
export type SealingProcess = (typeof sealingProcesses)[number]

/** How many values each key sealed; `keys` are fingerprints, the key that seals first. */
export type SealedTotals = { readonly keys: readonly string[]; readonly rows: readonly number[]; readonly unknownKey: number }

/** What a process recorded last, and when. */
export type RecordedTotals = SealedTotals & { readonly at: Date }

type ResealLoopDeps = {
  readonly process: SealingProcess
  readonly resealing: Resealing
  readonly audit: Pick<AuditLog, 'append' | 'list'>
  readonly isLeader: () => boolean
  /** Gets the totals of every round. */
  readonly observe?: (totals: SealedTotals) => void
  readonly clock: Clock
  readonly log: Log
  readonly everyMilliseconds?: number
}

const action = 'sealing-keys.counted'
/** Counting reads every sealed row: often only while there is something to do. */
const restingMilliseconds = 3_600_000

/** The loop of one process; nothing runs before `start`, nor on a replica that does not lead. */
export function createResealLoop(deps: ResealLoopDeps): Periodic {
  const { resealing, observe, clock, log, everyMilliseconds = 60_000 } = deps
  let restUntil = 0
  const work = async (signal: AbortSignal): Promise<void> => {
    if (resealing.keys.length === 1 && clock.now().getTime() < restUntil) return
    const before = totalsOf(await resealing.count())
    const needed = notSealedByFirst(before) > 0
    const result = needed ? await resealing.run(signal) : { resealed: 0, unreadable: 0 }
    const totals = needed ? totalsOf(await resealing.count()) : before
    observe?.(totals)
    if (result.resealed > 0) log.info({ ...result, keys: resealing.keys }, 'values sealed again under the first sealing key')
    if (result.unreadable > 0)
      log.error(
        { ...result, keys: resealing.keys },
        'sealed values cannot be opened: add the key that sealed them to the end of SEKISHO_SEALING_KEYS',
      )
    await recordTotals(deps, totals, result.resealed)
    restUntil = clock.now().getTime() + restingMilliseconds
  }
  return periodic({ name: 'sealing again', everyMilliseconds, work, enabled: deps.isLeader, clock, log })
}

/** What that process recorded last; undefined before its first record. */
export async function recordedTotals(
  audit: Pick<AuditLog, 'list'>,
  process: SealingProcess,
): Promise<RecordedTotals | undefined> {
  const [entry] = await audit.list({ namespace: platformNamespace, action, actor: `sekisho:${process}`, limit: 1 })
  if (entry === undefined || !isTotals(entry.details)) return undefined
  const { keys, rows, unknownKey } = entry.details
  return { keys, rows, unknownKey, at: new Date(entry.at) }
}

/** The values that the first key did not seal. */
export function notSealedByFirst({ rows, unknownKey }: SealedTotals): number {
  return rows.slice(1).reduce((sum, count) => sum + count, unknownKey)
}

/** All columns together. */
export function totalsOf({ keys, columns }: SealedCounts): SealedTotals {
  const rows = keys.map((_key, index) => columns.reduce((sum, column) => sum + (column.rows[index] ?? 0), 0))
  return { keys, rows, unknownKey: columns.reduce((sum, column) => sum + column.unknownKey, 0) }
}

async function recordTotals({ process, audit }: ResealLoopDeps, totals: SealedTotals, resealed: number): Promise<void> {
  const last = await recordedTotals(audit, process)
  const sameKeys = last?.keys.join() === totals.keys.join()
  if (last && sameKeys && resealed === 0 && notSealedByFirst(last) === notSealedByFirst(totals)) return
  const left = notSealedByFirst(totals)
  const record: AuditRecord = {
    action,
    actor: `sekisho:${process}`,
    namespace: platformNamespace,
    object: `SealingKeys/${process}`,
    outcome: totals.unknownKey === 0 ? 'allowed' : 'failed',
    reason: left === 0 ? 'everything is sealed by the first key' : `${left} values are not sealed by the first key`,
    details: { keys: totals.keys, rows: totals.rows, unknownKey: totals.unknownKey, resealed },
  }
  await audit.append(record)
}

function isTotals(details: unknown): details is { keys: readonly string[]; rows: readonly number[]; unknownKey: number } {
  if (!isJsonObject(details)) return false
  const { keys, rows, unknownKey } = details
  return Array.isArray(keys) && Array.isArray(rows) && rows.every(Number.isInteger) && typeof unknownKey === 'number'
}
