// Whether the audit log is what its checkpoints say, for metrics. Only the leader compares them: another replica reports NaN,
// so that what it once knew is not taken for what is.
import { Gauge, type Registry } from 'prom-client'

/** What the leader found at one comparison. */
export type LogState = {
  /** The number of the newest entry; absent where the checkpoints themselves are not valid. */
  readonly head?: number
  /** When the newest checkpoint was signed; absent while there is none. */
  readonly checkpointAt?: Date | undefined
  /** The log contradicts a checkpoint, or a problem is not acknowledged. */
  readonly problem: boolean
  /** When they were compared. */
  readonly at: Date
}

/** Call once per registry. Returns a function that takes what was found. */
export function createCheckpointMetrics(registry: Registry, isLeader: () => boolean): (state: LogState) => void {
  let found: LogState | undefined
  const gauge = (name: string, help: string, read: (state: LogState) => number | undefined): void => {
    new Gauge({
      name,
      help: `${help} Reported by the leader; NaN on other replicas, and before the first comparison.`,
      registers: [registry],
      collect() {
        this.set(found === undefined || !isLeader() ? Number.NaN : (read(found) ?? Number.NaN))
      },
    })
  }
  const seconds = (date: Date | undefined): number | undefined => date && date.getTime() / 1000
  gauge('sekisho_audit_head_sequence', 'The number of the newest entry of the audit log.', ({ head }) => head)
  gauge(
    'sekisho_audit_log_problem',
    '1 when the audit log contradicts a checkpoint that is kept outside the database, or a problem of it is not acknowledged, else 0.',
    ({ problem }) => Number(problem),
  )
  gauge(
    'sekisho_audit_compared_timestamp_seconds',
    'When the audit log was last compared with its checkpoints, in seconds since 1970.',
    ({ at }) => seconds(at),
  )
  gauge(
    'sekisho_audit_checkpoint_timestamp_seconds',
    'When the newest checkpoint of the audit log was signed, in seconds since 1970. A log without a new entry gets no new one.',
    ({ checkpointAt }) => seconds(checkpointAt),
  )
  return state => {
    found = state
  }
}
