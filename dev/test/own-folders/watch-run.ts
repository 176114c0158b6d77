// Started by run-folder.ts beside a run of tests. When the run was killed it ends what that left; when it ended in order
// there is nothing left.

import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { endAbandonedClusters } from '../../cluster/control-plane/test-cluster.ts'
import { identify } from '../../cluster/processes/identity.ts'
import { silentProgress } from '../../cluster/progress.ts'
import { readClusterSettings } from '../../cluster/settings.ts'

const watched = process.ppid
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.stdin.resume().once('close', async () => {
  // Its files close a moment before the process is gone.
  await waitUntil('the end of the run', () => identify(watched) === undefined || process.ppid !== watched)
  await endAbandonedClusters({ settings: readClusterSettings(), progress: silentProgress })
})
