// The environment of a memory run: a platform whose processes run as in their pods, one replica of each, without proxies.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readKubeconfig } from '../../../dev/cluster/control-plane/kubeconfig.ts'
import { readClusterSettings, toolEnvironment } from '../../../dev/cluster/settings.ts'
import type { ToolPaths } from '../../../dev/demo/tools.ts'
import { runtimeEnvironment } from '../../../dev/images/recipes/plain-sources.ts'
import type { Mode as Form } from '../../../src/api/names.ts'
import { tokenOf } from '../../fixtures/platform-rights.ts'
import { type Ground, openPlatform, type Platform } from '../../platform/open-platform.ts'
import { listenVariables, type ProcessPlan, servicePorts } from '../../platform/process-plans.ts'
import { type AppFolder, makeAppFolder } from './app-folder.ts'
import { type MeasuredProcess, startMeasuredProcess } from './measured-process.ts'

/** On loopback, beside the listeners of the platform in `servicePorts`. */
const healthPorts = [24_451, 24_452, 24_453, 24_454] as const

export type MemoryPlatform = Platform<MeasuredProcess> & {
  /** PEM of the authority of the broker's certificate. */
  readonly certificateAuthority: string
  /** The tools of people, and the PATH on which they find each other. */
  readonly tools: ToolPaths & { readonly path: string }
}

const path = toolEnvironment()['PATH'] ?? ''

export async function openMemoryPlatform(form: Form): Promise<MemoryPlatform> {
  const platform = await openPlatform({
    form,
    cluster: { name: 'memory-cluster' },
    // As shipped: the standalone form on the embedded database.
    database: 'embedded',
    async start(plans, ground) {
      const app = await makeAppFolder(join(ground.folder, 'app'), ground.repository)
      const processes: MeasuredProcess[] = []
      for (const [index, plan] of plans.entries()) {
        const started = await startPlanned(plan, healthPorts[index] ?? 0, { ...ground, app })
        ground.onClose(started.stop)
        processes.push(started)
      }
      return processes
    },
  })
  const { repository, cacheFolder: cache } = readClusterSettings()
  const { folder, kubectl, brokerUrl: issuer, authorityFile } = platform
  return {
    ...platform,
    certificateAuthority: await readFile(authorityFile, 'utf8'),
    tools: {
      folder: join(folder, 'people'),
      ...{ kubectl, issuer, cache, path, certificateAuthority: authorityFile },
      sekisho: join(repository, 'bin/sekisho'),
    },
  }
}

type Place = Pick<Ground, 'folder' | 'logs'> & {
  readonly controlPlane: Pick<Ground['controlPlane'], 'admin' | 'kubeconfig'>
  readonly app: AppFolder
}

/** A process as in its pod. It may not be ready yet. */
export async function startPlanned(
  { name, program, account, variables }: ProcessPlan,
  healthPort: number,
  { folder, app, logs, controlPlane }: Place,
): Promise<MeasuredProcess> {
  const { server, certificateAuthority = '' } = await readKubeconfig(controlPlane.kubeconfig)
  const accountFolder = join(folder, `account-${name}`)
  await mkdir(accountFolder, { recursive: true })
  await writeFile(join(accountFolder, 'token'), await tokenOf(controlPlane.admin, account), { mode: 0o600 })
  await writeFile(join(accountFolder, 'ca.crt'), certificateAuthority)
  const { hostname, port } = new URL(server)
  const logFile = join(logs, `${name}.log`)
  await rm(logFile, { force: true })
  return startMeasuredProcess({
    ...{ name, program, app, accountFolder },
    environment: {
      ...runtimeEnvironment(app.folder),
      // As the kubelet tells a pod where the API server is.
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
      PATH: path,
      HOME: folder,
      SEKISHO_DATA_FOLDER: join(folder, `data-${name}`),
      ...variables,
      ...listenVariables(servicePorts, healthPort),
    },
    healthPort,
    logFile,
  })
}
