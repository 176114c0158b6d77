// The loops that keep signed heads of the audit log outside of its database: in the ConfigMap, and where the settings say so in a
// folder and in a bucket.
import type { Registry } from 'prom-client'
import type { Periodic } from '../../lib/periodic.ts'
import type { BrokerSettings } from '../config.ts'
import { createCheckpointExport } from './checkpoint-export.ts'
import type { LossDeps } from './loss-deps.ts'
import { createCheckpointMetrics } from './metrics.ts'
import type { CheckpointBucketPlace } from './places/bucket-settings.ts'
import { type CheckpointBucket, createCheckpointBucket } from './places/checkpoint-bucket.ts'
import { createCheckpointFolder } from './places/checkpoint-folder.ts'
import { createBucketMetrics } from './places/metrics.ts'

type Loop = Pick<Periodic, 'start' | 'stop'>

export type CheckpointDeps = LossDeps & {
  readonly settings: Pick<BrokerSettings, 'auditCheckpointSeconds' | 'auditCheckpointFolder' | 'auditBucket'>
  readonly isLeader: () => boolean
  readonly metrics: Registry
}

export async function openCheckpoints(deps: CheckpointDeps): Promise<readonly Loop[]> {
  const { settings, isLeader, metrics } = deps
  const { auditCheckpointFolder: folder, auditBucket } = settings
  const everyMilliseconds = settings.auditCheckpointSeconds * 1000
  const bucket = auditBucket === undefined ? undefined : await openBucket(deps, auditBucket, everyMilliseconds)
  const found = createCheckpointMetrics(metrics, isLeader)
  const exported = createCheckpointExport({
    ...deps,
    everyMilliseconds,
    keep: folder === undefined ? undefined : createCheckpointFolder(folder),
    observe(state) {
      found(state)
      bucket?.wake()
    },
  })
  return bucket === undefined ? [exported] : [exported, bucket]
}

async function openBucket(
  deps: CheckpointDeps,
  { prefix, ...place }: CheckpointBucketPlace,
  everyMilliseconds: number,
): Promise<CheckpointBucket> {
  // Whoever has no bucket does not load the client of AWS.
  const { openKeptObjects } = await import('../../object-store/kept-objects.ts')
  const objects = openKeptObjects(place)
  const observe = createBucketMetrics(deps.metrics, deps.isLeader)
  const bucket = createCheckpointBucket({ ...deps, objects, prefix, everyMilliseconds, observe })
  return {
    ...bucket,
    async stop() {
      await bucket.stop()
      objects.close()
    },
  }
}
