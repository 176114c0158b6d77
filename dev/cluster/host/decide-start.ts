// Decides what a start must do about the traces of an earlier run: a pure function of the record and of what is alive.
// A running cluster of another checkout must never be touched.
import type { HostRecord } from './record.ts'

export type StartFacts = {
  readonly record: HostRecord | undefined
  readonly clusterFolder: string
  readonly bootId: string
  /** Names of the recorded processes that are running. */
  readonly alive: readonly string[]
  /** Whether a process runs in the control group of the recorded node's pods. */
  readonly podsAlive: boolean
}

export type StartDecision =
  /** No earlier run: begin. */
  | { readonly action: 'begin' }
  /** This cluster runs, completely or in part: check each process and start what is missing. */
  | { readonly action: 'continue' }
  /** This cluster was interrupted: remove what its pods left on the host, keep its data. */
  | { readonly action: 'recover'; readonly record: HostRecord }
  /** Another checkout's cluster has ended: remove everything that it left. */
  | { readonly action: 'clean'; readonly record: HostRecord }
  /** Another checkout's cluster is running: a machine can run one only. */
  | { readonly action: 'refuse'; readonly message: string }

/** A restarted runtime adopts containers that still run; when they ended too, their remains would make it fail. */
const runtime = 'containerd'

export function decideStart(facts: StartFacts): StartDecision {
  const { record } = facts
  if (record === undefined) return { action: 'begin' }
  if (record.clusterFolder !== facts.clusterFolder) {
    if (facts.alive.length === 0) return { action: 'clean', record }
    return {
      action: 'refuse',
      message: `the cluster of ${record.repository} is running on this machine (${facts.alive.join(', ')}); run "make down" there first`,
    }
  }
  const nodeCutOff = record.node !== undefined && !facts.alive.includes(runtime) && !facts.podsAlive
  return nodeCutOff || record.bootId !== facts.bootId ? { action: 'recover', record } : { action: 'continue' }
}
