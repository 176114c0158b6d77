// Decides what a start must do about what an earlier run left on the host. Pure: a function of the record and what is alive.
// A running cluster of somebody else must never be touched.
import type { HostRecord } from './record.ts'

export type StartFacts = {
  readonly record: HostRecord | undefined
  readonly clusterFolder: string
  readonly bootId: string
  /** Names of recorded processes that run now. */
  readonly alive: readonly string[]
  /** Whether anything runs in the control group of the recorded node's pods. */
  readonly podsAlive: boolean
}

export type StartDecision =
  /** Nothing was left: begin. */
  | { readonly action: 'begin' }
  /** This cluster runs, whole or in part: check each process and start what is missing. */
  | { readonly action: 'continue' }
  /** This cluster was cut off: take back what its pods left on the host, keep its data. */
  | { readonly action: 'recover'; readonly record: HostRecord }
  /** Another checkout's cluster is dead: take back everything it left. */
  | { readonly action: 'clean'; readonly record: HostRecord }
  /** Another checkout's cluster runs: one machine holds one. */
  | { readonly action: 'refuse'; readonly message: string }

/** A restarted runtime takes over containers that still run; when these ended too, their remains are in its way. */
const runtime = 'containerd'

export function decideStart(facts: StartFacts): StartDecision {
  const { record } = facts
  if (record === undefined) return { action: 'begin' }
  if (record.clusterFolder !== facts.clusterFolder) {
    if (facts.alive.length === 0) return { action: 'clean', record }
    return {
      action: 'refuse',
      message: `the cluster of ${record.repository} runs on this machine (${facts.alive.join(', ')}); run "make down" there first`,
    }
  }
  const nodeCutOff = record.node !== undefined && !facts.alive.includes(runtime) && !facts.podsAlive
  return nodeCutOff || record.bootId !== facts.bootId ? { action: 'recover', record } : { action: 'continue' }
}
