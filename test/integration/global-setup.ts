// Boots one throw-away control plane for all integration tests, or takes the cluster of SEKISHO_TEST_KUBECONFIG.
// It ends what it started, also when a test or the start itself fails.
import type { TestProject } from 'vitest/node'
import { removeTestCluster, startTestCluster } from '../../dev/cluster/control-plane/test-cluster.ts'
import { withLock } from '../../dev/cluster/processes/lock.ts'
import { standardErrorProgress } from '../../dev/cluster/progress.ts'
import { readClusterSettings, testClusterFolder } from '../../dev/cluster/settings.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of an administrator's kubeconfig. */
    readonly kubeconfig: string
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const settings = readClusterSettings()
  const progress = standardErrorProgress()
  if (settings.givenTestKubeconfig !== undefined) {
    progress.note(`integration tests use the cluster of SEKISHO_TEST_KUBECONFIG: ${settings.givenTestKubeconfig}`)
    project.provide('kubeconfig', settings.givenTestKubeconfig)
    return undefined
  }
  const deps = { settings, progress }
  // Two runs in one checkout share folder and ports: the second waits for the first to end.
  let end: () => void = () => {}
  const ended = new Promise<void>(resolve => {
    end = resolve
  })
  const waiting = (pid: number): void =>
    progress.note(`another integration run (pid ${pid}) uses the test control plane; waiting for it`)
  let held: Promise<void> = Promise.resolve()
  await new Promise<void>((resolve, reject) => {
    const work = async (): Promise<void> => {
      try {
        const controlPlane = await progress.step('test control plane', () => startTestCluster(deps))
        project.provide('kubeconfig', controlPlane.kubeconfig)
        resolve()
        await ended
        await controlPlane.admin.close()
      } finally {
        await removeTestCluster(deps)
      }
    }
    held = withLock(`${testClusterFolder(settings)}.lock`, work, waiting)
    held.catch(reject)
  })
  return async () => {
    end()
    await held
  }
}
