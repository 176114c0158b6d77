// The command line of the kpack installer: builds and pushes the images it needs, installs, waits. Progress goes to standard
// error.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { AppError } from '../../src/lib/errors.ts'
import { catalog, kpackVersion } from '../cluster/binaries/catalog.ts'
import { ensureBinary } from '../cluster/binaries/ensure-binary.ts'
import { print, printUsage, runCommandLine } from '../cluster/command-line.ts'
import { type Progress, standardErrorProgress } from '../cluster/progress.ts'
import { runCommand } from '../cluster/run-command.ts'
import { adminKubeconfig, type ClusterSettings, readClusterSettings } from '../cluster/settings.ts'
import { buildImages, type ImageResult } from '../images/build-images.ts'
import { createImageDeps } from '../images/image-deps.ts'
import type { ImageName } from '../images/recipes/catalog.ts'
import { installBuilder, installKpack } from './install.ts'
import { createKubectl, type Kubectl } from './kubectl.ts'
import type { NodeEndpoints } from './network-policies.ts'
import { findReleaseFolder } from './release-folder.ts'

const usage = `Usage: node dev/kpack/main.ts install|builder [-o json]
  install   builds and pushes the image of kpack, installs kpack and waits until it answers
  builder   builds and pushes the images of the builder, makes the builder and waits until builds can run; the platform must be running
`

const builderImages = [
  'lifecycle',
  'build',
  'run',
  'prepare',
  'packages',
  'node',
  'python',
  'static',
] as const satisfies readonly ImageName[]

type Context = { readonly settings: ClusterSettings; readonly progress: Progress; readonly kubectl: Kubectl }

async function openContext(): Promise<Context> {
  const settings = readClusterSettings()
  const progress = standardErrorProgress()
  const kubernetes = await ensureBinary(catalog.kubernetes, { settings, progress })
  const kubectl = createKubectl({ run: runCommand, program: kubernetes.path('kubectl'), kubeconfig: adminKubeconfig(settings) })
  return { settings, progress, kubectl }
}

type Built = { readonly pinned: (name: ImageName) => string; readonly registry: string }

async function built({ settings, progress }: Context, names: readonly ImageName[]): Promise<Built> {
  const deps = await createImageDeps(settings, progress, { push: true })
  const results = await buildImages(names, deps)
  return { pinned: name => find(results, name).pinned, registry: deps.registryOf('build').address }
}

async function install(context: Context): Promise<object> {
  const { settings, progress, kubectl } = context
  const { pinned } = await built(context, ['kpack'])
  const moduleFolder = join(settings.repository, 'dev', 'cluster', 'modules', 'kpack')
  const { cacheFolder } = settings
  const releaseFolder = await findReleaseFolder({ run: runCommand, moduleFolder, cacheFolder, version: kpackVersion })
  const node = settings.givenKubeconfig === undefined ? { node: nodeEndpoints(settings) } : {}
  return installKpack({ releaseFolder, version: kpackVersion, kpackImage: pinned('kpack'), ...node }, kubectl, progress)
}

async function builder(context: Context): Promise<object> {
  const { pinned, registry } = await built(context, builderImages)
  const images = {
    lifecycle: pinned('lifecycle'),
    build: pinned('build'),
    run: pinned('run'),
    prepare: pinned('prepare'),
    packages: pinned('packages'),
    node: pinned('node'),
    python: pinned('python'),
    static: pinned('static'),
  }
  return installBuilder({ images, registry }, context.kubectl, context.progress)
}

function nodeEndpoints(settings: ClusterSettings): NodeEndpoints {
  const { nodeAddress, podGateway, ports, registryPort } = settings
  return { addresses: [nodeAddress, podGateway], apiServerPort: ports.apiServer, registryPort }
}

function find(results: readonly ImageResult[], name: ImageName): ImageResult {
  const result = results.find(image => image.name === name)
  if (!result) throw new AppError('internal', `the image ${name} was not built`)
  return result
}

const commands: Readonly<Record<string, (context: Context) => Promise<object>>> = { install, builder }

async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { output: { type: 'string', short: 'o', default: 'text' }, help: { type: 'boolean', short: 'h', default: false } },
  })
  const command = commands[positionals[0] ?? '']
  if (values.help || command === undefined) return printUsage(usage, values.help)
  const result = await command(await openContext())
  print(values.output === 'json' ? `${JSON.stringify(result, null, 2)}\n` : `${Object.values(result).join(' ')}\n`)
  return 0
}

await runCommandLine('kpack', run)
