// What is kept of a build beside its log, and how its row says it. Pure.
import type { BuildRow } from '../generated/client.ts'

export const buildOutcomes = ['Succeeded', 'Failed', 'TimedOut', 'Cancelled'] as const
export type BuildOutcome = (typeof buildOutcomes)[number]

/** A step of the build. `Unknown`: the pod was gone before its end was seen. */
export type BuildStep = { readonly name: string; readonly state: 'Running' | 'Succeeded' | 'Failed' | 'Unknown' }

/**
 * What a build is, from its beginning on. `id` is the uid of the object that builds: the same name may be built again after a
 * cancel.
 */
export type NewBuildRecord = {
  readonly id: string
  readonly namespace: string
  readonly buildNamespace: string
  readonly name: string
  readonly remoteSync: { readonly name: string; readonly uid: string }
  readonly commit: string
  readonly attempt: number
  readonly createdAt: Date
}

export type BuildRecord = NewBuildRecord & {
  /** Absent while it runs or its log is being read. */
  readonly ended?: { readonly at: Date; readonly outcome: BuildOutcome; readonly cause?: string }
  readonly steps: readonly BuildStep[]
  /** Of the log as it was written: `leftOut` of them are not kept. */
  readonly bytes: number
  readonly leftOut: number
}

function outcomeOf(text: string): BuildOutcome {
  return buildOutcomes.find(outcome => outcome === text) ?? 'Failed'
}

/** The steps are written by this code only. */
export function recordOf(row: BuildRow): BuildRecord {
  const { id, namespace, buildNamespace, name, commit, attempt, createdAt, endedAt, outcome, cause } = row
  const ended =
    endedAt === null || outcome === null
      ? {}
      : { ended: { at: endedAt, outcome: outcomeOf(outcome), ...(cause === null ? {} : { cause }) } }
  return {
    id,
    namespace,
    buildNamespace,
    name,
    remoteSync: { name: row.remoteSync, uid: row.remoteSyncUid },
    commit,
    attempt,
    createdAt,
    steps: row.steps as unknown as readonly BuildStep[],
    bytes: Number(row.bytes),
    leftOut: Number(row.leftOut),
    ...ended,
  }
}
