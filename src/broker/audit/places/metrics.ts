// Whether the bucket has the checkpoints of the audit log, for metrics. Only the leader writes them: another replica reports NaN.
import { Gauge, type Registry } from 'prom-client'
import type { BucketState } from './checkpoint-bucket.ts'

/** Call once per registry, where there is a bucket. Returns a function that takes what was found. */
export function createBucketMetrics(registry: Registry, isLeader: () => boolean): (state: BucketState) => void {
  let found: BucketState | undefined
  const gauge = (name: string, help: string, field: keyof BucketState): void => {
    new Gauge({
      name,
      help: `${help} Reported by the leader where there is a bucket; NaN on other replicas, and before the first look.`,
      registers: [registry],
      collect() {
        this.set(found === undefined || !isLeader() ? Number.NaN : found[field])
      },
    })
  }
  gauge(
    'sekisho_audit_bucket_missing_checkpoints',
    'How many checkpoints of the audit log the bucket does not have yet.',
    'missing',
  )
  gauge(
    'sekisho_audit_bucket_changed_checkpoints',
    'How many checkpoints of the audit log in the bucket have another content than was written.',
    'different',
  )
  return state => {
    found = state
  }
}
