// Notices that broker and controllers were given one keyring, of which ADR 0025 promises two: a process opens what the other
// sealed, if it gets at its rows. Sealed values do not show it, because each schema has its own; the fingerprints that the
// processes record do. It knows no key.
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { recordedTotals } from './reseal-loop.ts'

/**
 * The problem with its cure when both processes seal with the same key; undefined otherwise. Takes fingerprints, the key that
 * seals first. A key that both only open is none: it is the former key of the standalone form (docs/guide/database.md). Not for
 * the standalone form, which has one keyring.
 */
export function sharedKeyProblem(broker: readonly string[], controllers: readonly string[]): string | undefined {
  const [key] = broker
  if (key === undefined || key !== controllers[0]) return undefined
  return `the broker and the controllers seal with the same key (${key}): whoever takes one of them can open what the other sealed. Give each a SEKISHO_SEALING_KEYS of its own: replace the key of each as docs/guide/keys.md says under "Replacing a sealing key"`
}

type SharedKeyCheckDeps = {
  /** Fingerprints of the broker's keyring. */
  readonly keys: readonly string[]
  readonly audit: Pick<AuditLog, 'list'>
  readonly isLeader: () => boolean
  readonly clock: Clock
  readonly log: Log
}

/** Looks every minute on the broker that leads, and logs one error while the problem is the same; nothing runs before `start`. */
export function createSharedKeyCheck({ keys, audit, isLeader, clock, log }: SharedKeyCheckDeps): Periodic {
  let said: string | undefined
  const work = async (): Promise<void> => {
    const others = await recordedTotals(audit, 'controllers')
    const problem = others && sharedKeyProblem(keys, others.keys)
    if (problem !== undefined && problem !== said) log.error({ key: keys[0] }, problem)
    said = problem
  }
  return periodic({ name: 'comparing sealing keys', everyMilliseconds: 60_000, work, enabled: isLeader, clock, log })
}
