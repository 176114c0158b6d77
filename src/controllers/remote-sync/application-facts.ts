// What the build is told of the Applications: in which folder of what is built they are, and which processes they name
// themselves, so that a build fails when their programs are not in the image. Read by
// `dev/images/buildpacks/shared/application.ts`. Pure.
import { posix } from 'node:path'
import type { Application } from '../../api/apps/application.ts'
import { folderInBuild } from '../../api/apps/remote-sync/build-fields.ts'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import { defined } from '../../lib/json/defined.ts'
import { shortHash } from '../../lib/text/bounded-name.ts'
import type { BuildRequest } from '../../services/builds/builder.ts'

/** A variable of a process has a bound in Linux (MAX_ARG_STRLEN), which all commands together must stay below. */
const maxCommand = 2048
const maxCommands = 65_536
const folderVariable = 'BP_APPLICATION_FOLDER'
const processesVariable = 'BP_APPLICATION_PROCESSES'

type Spec = Pick<RemoteSync['spec'], 'subPath' | 'build'>

/** The folder that is built, absent for the whole repository. */
export function builtFolder({ subPath, build: { root } }: Spec): { readonly subPath?: string } {
  if (root === undefined) return defined({ subPath })
  const folder = posix.normalize(root)
  return folder === '.' ? {} : { subPath: folder }
}

type Named = { readonly name: string; readonly command?: readonly string[]; readonly args?: readonly string[] }

/** Those that exist. */
type Applications = readonly Pick<Application, 'spec'>[]

/**
 * The processes of all, or undefined when each leaves its own to the image. One that does so beside others needs something that
 * starts by itself (`web`).
 */
function namedProcesses(applications: Applications): object[] | undefined {
  if (applications.every(({ spec }) => spec.processes === undefined)) return undefined
  const all = applications.flatMap(({ spec }): readonly Named[] => spec.processes ?? [{ name: 'web' }])
  const longest = Math.min(maxCommand, Math.floor(maxCommands / all.length))
  return all.map(({ name, command, args = [] }) => {
    if (command === undefined) return { name }
    const words = [...command, ...args]
    // One that is too long to be checked is still a command.
    return { name, command: JSON.stringify(words).length > longest ? [] : words }
  })
}

function processesOf(applications: Applications): object {
  const isReleased = applications.some(({ spec }) => spec.releaseJob !== undefined)
  return { ...defined({ processes: namedProcesses(applications) }), ...(isReleased ? { releaseJob: true } : {}) }
}

/** That of the spec, and for buildpacks what they are told. Dockerfiles say themselves what starts. */
export function buildEnvironment(spec: Spec, applications: Applications): BuildRequest['env'] {
  const { env = [], strategy } = spec.build
  if (strategy !== 'Buildpacks') return env
  const folder = folderInBuild(spec)
  return [
    ...env.filter(({ name }) => name !== folderVariable && name !== processesVariable),
    ...(folder === undefined ? [] : [{ name: folderVariable, value: folder }]),
    { name: processesVariable, value: JSON.stringify(processesOf(applications)) },
  ]
}

/** Changes with what a build is told of the processes, of which none depends while it succeeds. */
export function namedPrograms(applications: Applications): string {
  return shortHash(JSON.stringify(processesOf(applications)))
}
