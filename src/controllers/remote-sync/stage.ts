// What the stages of a RemoteSync have in common: what one leaves for the next, and how the status is written.
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import type { Clock } from '../../lib/clock.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import type { Halt } from './halt.ts'
import { nextStatus, type ReconcileState } from './status.ts'

/** The state so far, and why the run halted. */
export type Halted = { readonly state: ReconcileState; readonly halted: Halt }
/** The state so far, and what the next stage needs. */
export type Passed<Values> = { readonly state: ReconcileState; readonly halted?: undefined } & Values
export type StageResult<Values> = Promise<Halted | Passed<Values>>

export type SaveDeps = { readonly status: StatusWriter<RemoteSync>; readonly clock: Clock }

/** Writes the status with the conditions that the halt implies, unless it says so already. */
export async function save(deps: SaveDeps, state: ReconcileState, halted: Halt | undefined): Promise<ReconcileState> {
  return { ...state, remoteSync: await deps.status.write(state.remoteSync, nextStatus(state, halted, deps.clock.now())) }
}
