// Started by run-folder.ts beside a run of tests. When the run was killed it ends what that left; when it ended in order there is nothing left.
import { endAbandonedClusters } from '../../cluster/control-plane/test-cluster.ts'
import { identify } from '../../cluster/processes/identity.ts'
import { silentProgress } from '../../cluster/progress.ts'
import { readClusterSettings } from '../../cluster/settings.ts'
import { waitUntil } from '../../cluster/wait-until.ts'

const watched = process.ppid
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.stdin.resume().once('close', async () => {
  // Its files close a moment before the process is gone.
  await waitUntil('the end of the run', async () => identify(watched) === undefined || process.ppid !== watched || undefined, {
    timeoutMilliseconds: 10_000,
  })
  await endAbandonedClusters({ settings: readClusterSettings(), progress: silentProgress })
})
