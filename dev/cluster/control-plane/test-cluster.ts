// The throw-away control plane of the integration tests: own folder, own ports, loopback only, empty at every start.
// What an earlier run left behind (also one that was killed) is ended first, by its records.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BinaryDeps } from '../binaries/ensure-binary.ts'
import { stopProcess } from '../processes/supervise.ts'
import { testClusterFolder } from '../settings.ts'
import type { ControlPlane } from './start.ts'
import { controlPlaneProcesses, startControlPlane } from './start.ts'

/** Ends a test control plane by its records and forgets its state. */
export async function removeTestCluster(deps: BinaryDeps): Promise<void> {
  const folder = testClusterFolder(deps.settings)
  const folders = { records: join(folder, 'processes'), logs: join(folder, 'logs') }
  for (const name of controlPlaneProcesses) await stopProcess(name, folders, 5000)
  await rm(folder, { recursive: true, force: true })
}

export async function startTestCluster(deps: BinaryDeps): Promise<ControlPlane> {
  await removeTestCluster(deps)
  const { settings } = deps
  const folder = testClusterFolder(settings)
  return startControlPlane(
    {
      folder,
      recordsFolder: join(folder, 'processes'),
      ports: settings.testPorts,
      bindAddress: '127.0.0.1',
      advertiseAddress: '127.0.0.1',
      publicAddress: '127.0.0.1',
      serviceCidr: settings.serviceCidr,
      serviceAddress: settings.serviceAddress,
      podCidr: settings.podCidr,
      clusterDomain: settings.clusterDomain,
      issuerUrl: settings.issuerUrl,
    },
    deps,
  )
}
