// The command line of the kpack installer: builds and pushes the images it needs, installs, waits. Progress goes to standard error.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { AppError } from '../../src/lib/errors.ts'
import { catalog, kpackVersion } from '../cluster/binaries/catalog.ts'
import { ensureBinary } from '../cluster/binaries/ensure-binary.ts'
import { print, printUsage, runCommandLine } from '../cluster/command-line.ts'
import { standardErrorProgress } from '../cluster/progress.ts'
import { runCommand } from '../cluster/run-command.ts'
import { adminKubeconfig, type ClusterSettings, readClusterSettings, registryHost } from '../cluster/settings.ts'
import { buildImages, type ImageResult } from '../images/build-images.ts'
import { createImageDeps } from '../images/image-deps.ts'
import type { ImageName } from '../images/recipes/catalog.ts'
import { installKpack } from './install.ts'
import { createKubectl } from './kubectl.ts'
import type { NodeEndpoints } from './network-policies.ts'
import { findReleaseFolder } from './release-folder.ts'

const usage = `Usage: node dev/kpack/main.ts install [-o json]
Builds and pushes the images of kpack and its builder, installs both into the cluster and waits until builds can run.
`

const neededImages = ['lifecycle', 'build', 'run', 'prepare', 'node', 'kpack'] as const satisfies readonly ImageName[]

async function install(): Promise<object> {
  const settings = readClusterSettings()
  const progress = standardErrorProgress()
  const built = await buildImages(neededImages, await createImageDeps(settings, progress, { push: true }))
  const pinned = (name: ImageName): string => find(built, name).pinned
  const kubernetes = await ensureBinary(catalog.kubernetes, { settings, progress })
  const kubectl = createKubectl({ run: runCommand, program: kubernetes.path('kubectl'), kubeconfig: adminKubeconfig(settings) })
  const moduleFolder = join(settings.repository, 'dev', 'cluster', 'modules', 'kpack')
  const releaseFolder = await findReleaseFolder({
    run: runCommand,
    moduleFolder,
    cacheFolder: settings.cacheFolder,
    version: kpackVersion,
  })
  return installKpack(
    {
      releaseFolder,
      version: kpackVersion,
      kpackImage: pinned('kpack'),
      images: {
        lifecycle: pinned('lifecycle'),
        build: pinned('build'),
        run: pinned('run'),
        prepare: pinned('prepare'),
        node: pinned('node'),
      },
      registry: registryHost(settings),
      ...(settings.givenKubeconfig === undefined ? { node: nodeEndpoints(settings) } : {}),
    },
    kubectl,
    progress,
  )
}

function nodeEndpoints(settings: ClusterSettings): NodeEndpoints {
  const { nodeAddress, podGateway, ports, registryPort } = settings
  return { addresses: [nodeAddress, podGateway], apiServerPort: ports.apiServer, registryPort }
}

function find(built: readonly ImageResult[], name: ImageName): ImageResult {
  const result = built.find(image => image.name === name)
  if (!result) throw new AppError('internal', `the image ${name} was not built`)
  return result
}

async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { output: { type: 'string', short: 'o', default: 'text' }, help: { type: 'boolean', short: 'h', default: false } },
  })
  if (values.help || positionals[0] !== 'install') return printUsage(usage, values.help)
  const result = await install()
  print(values.output === 'json' ? `${JSON.stringify(result, null, 2)}\n` : `${Object.values(result).join(' ')}\n`)
  return 0
}

await runCommandLine('kpack', run)
