// What the RemoteSync tells the build of its Application (`applicationVariables` in src/controllers/remote-sync/desired.ts): in
// which folder of the source it is, and which processes it names itself.
import { posix } from 'node:path'
import { BuildFailure } from './build-failure.ts'

/** A process of `spec.processes`; without a command it runs what the image has under its name. */
export type NamedProcess = { readonly name: string; readonly command?: readonly string[] }

export type ApplicationFacts = {
  /** Relative to what is built, `.` for the whole of it. */
  readonly folder: string
  /** Undefined when the Application leaves its processes to the image, or nobody said. */
  readonly processes: readonly NamedProcess[] | undefined
  readonly hasReleaseJob: boolean
}

const folderVariable = 'BP_APPLICATION_FOLDER'
const processesVariable = 'BP_APPLICATION_PROCESSES'

/** @throws BuildFailure when a variable has another form: `spec.build.env` can set it, too */
export function readApplication(environment: Readonly<Record<string, string | undefined>>): ApplicationFacts {
  const folder = posix.normalize(environment[folderVariable] || '.').replace(/\/$/, '')
  if (folder === '..' || folder.startsWith('../') || folder.startsWith('/'))
    throw new BuildFailure(`${folderVariable} is ${folder}: the folder of the application must be below the folder that is built`)
  const text = environment[processesVariable]
  return {
    folder,
    ...(text === undefined || text === '' ? { processes: undefined, hasReleaseJob: false } : parseProcesses(text)),
  }
}

function parseProcesses(text: string): Omit<ApplicationFacts, 'folder'> {
  const malformed = new BuildFailure(`${processesVariable} is set by the platform: remove it from spec.build.env`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed
  }
  const { processes, releaseJob } = (value ?? {}) as Readonly<Record<string, unknown>>
  const hasReleaseJob = releaseJob === true
  if (processes === undefined) return { processes, hasReleaseJob }
  if (!Array.isArray(processes)) throw malformed
  const named = processes.map((process: unknown): NamedProcess => {
    const { name, command } = (process ?? {}) as Readonly<Record<string, unknown>>
    if (typeof name !== 'string') throw malformed
    if (command === undefined) return { name }
    if (!Array.isArray(command) || !command.every(word => typeof word === 'string')) throw malformed
    return { name, command }
  })
  return { processes: named, hasReleaseJob }
}

/** Whether the Application runs without any process of the image. */
export function startsByItself({ processes }: Pick<ApplicationFacts, 'processes'>): boolean {
  return processes?.every(({ command }) => command !== undefined) === true
}
