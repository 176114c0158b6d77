// What an image says about the processes in it: those that buildpacks found (a Procfile, a start script), or its entry point
// and port. Pure; reads text that the image's author wrote, so everything is bounded, and what does not fit is refused with the
// cure.
// Source: https://github.com/buildpacks/spec/blob/main/platform.md#iobuildpacksbuildmetadata-json
import { posix } from 'node:path'
import type { Application } from '../../../api/apps/application.ts'
import { objectAt, objectsAt, parseJson, textAt } from '../../../lib/json/json-value.ts'

/** As `status.imageContents` keeps it. `processes` is present for images of buildpacks only. */
export type ImageContents = NonNullable<NonNullable<Application['status']>['imageContents']>

/** How an image describes itself; the part of `ImageLabels` in src/services/registry that is read here. */
export type Description = {
  readonly labels: Readonly<Record<string, string>>
  readonly entryPoint: readonly string[]
  readonly ports: readonly number[]
}

export type ReadContents =
  | { readonly kind: 'known'; readonly contents: ImageContents }
  | { readonly kind: 'unreadable'; readonly message: string; readonly permanent: boolean }

/** `unread`: the platform does not read this image, or need not. `pending`: ask again after that time. */
export type ContentsState =
  | ReadContents
  | { readonly kind: 'unread' }
  | { readonly kind: 'pending'; readonly requeueAfterMilliseconds: number }

/** Undefined while nothing is known, and for an image that is not read. */
export function knownContents(state: ContentsState): ImageContents | undefined {
  return state.kind === 'known' ? state.contents : undefined
}

const label = 'io.buildpacks.build.metadata'
const maxLabel = 1_048_576
/** The buildpacks of the platform write it (`launchDescription` in dev/images/buildpacks/shared/launch.ts). */
const folderLabel = 'sekisho.dev/application-folder'
/** Of `spec.subPath`. */
const maxFolder = 512
/** Where buildpacks build, and what processes are told of it. Source: the platform specification, "CNB_APP_DIR". */
const workspace = '/workspace'
export const folderVariable = 'CNB_APP_DIR'
/** The bounds of `status.imageContents.processes`. */
export const maxImageProcesses = 20
/** The bound of `status.imageContents.otherPorts`. */
const maxOtherPorts = 5
const maxName = 40
const processFolder = '/cnb/process/'
/** The specification's names of process types. */
const typePattern = /^[A-Za-z0-9._-]{1,64}$/
/** Heroku's process type of the release phase: it runs once before a release, never beside the others. */
const releaseType = 'release'

/** The name of a process of the Application for a process type: `my_worker` is `my-worker`. */
function nameOf(type: string): string {
  return type
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxName)
    .replaceAll(/^-+|-+$/g, '')
}

function unreadable(message: string): ReadContents {
  return { kind: 'unreadable', message, permanent: true }
}

/**
 * Two types with the same command are one process: Java buildpacks name the same program three times. `web` comes first; the
 * entry point is `web` when no type has that name.
 */
function processesIn(text: string, entryPoint: readonly string[]): readonly { readonly name: string; readonly type: string }[] {
  const types = objectsAt(objectAt(parseJson(text)), 'processes').flatMap(process => {
    const type = textAt(process, 'type') ?? ''
    const program = JSON.stringify([process['command'], process['args'], process['working-dir']])
    return typePattern.test(type) && nameOf(type) !== '' && type !== releaseType ? [{ name: nameOf(type), type, program }] : []
  })
  const [first = ''] = entryPoint
  const main = types.find(({ name }) => name === 'web') ?? types.find(({ type }) => first === `${processFolder}${type}`)
  const ordered = main ? [{ ...main, name: 'web' }, ...types.filter(type => type !== main)] : types
  return ordered
    .filter(({ program }, index) => ordered.findIndex(other => other.program === program) === index)
    .map(({ name, type }) => ({ name, type }))
}

/** The port is the one that the image names; of several 8080 if it is among them, otherwise the lowest. */
function portOf(ports: readonly number[]): Pick<ImageContents, 'port' | 'otherPorts'> {
  const port = ports.includes(8080) ? 8080 : ports[0]
  if (port === undefined) return {}
  const others = ports.filter(other => other !== port).slice(0, maxOtherPorts)
  return others.length === 0 ? { port } : { port, otherPorts: others }
}

/** A folder below the workspace; what the label says otherwise, which code of a build can write, is no folder. */
function folderOf(labels: Description['labels']): Pick<ImageContents, 'folder'> {
  const folder = labels[folderLabel] ?? ''
  const isBelow = posix.normalize(`${workspace}/${folder}`) === `${workspace}/${folder}`
  return folder !== '' && isBelow && !folder.endsWith('/') && folder.length <= maxFolder ? { folder } : {}
}

/** What each container is told, so that the launcher of buildpacks starts commands where the application is. */
export function folderEnvironment({ folder }: Pick<ImageContents, 'folder'>): readonly { name: string; value: string }[] {
  return folder === undefined ? [] : [{ name: folderVariable, value: `${workspace}/${folder}` }]
}

export function contentsOf(image: string, { labels, entryPoint, ports }: Description): ReadContents {
  const text = labels[label]
  const basic = { image, ...portOf(ports) }
  if (text === undefined) return { kind: 'known', contents: basic }
  if (text.length > maxLabel) return unreadable(`its label ${label} is too long`)
  const processes = processesIn(text, entryPoint)
  if (processes.length > maxImageProcesses) return unreadable(`it has more than ${maxImageProcesses} processes`)
  if (new Set(processes.map(({ name }) => name)).size < processes.length)
    return unreadable('two of its processes have names that differ only in characters which a name may not have')
  return { kind: 'known', contents: { ...basic, ...folderOf(labels), processes: [...processes] } }
}

/** The program of a process type: a link to the launcher of buildpacks, which sets the environment of the build's layers. */
export function programOf(type: string): readonly string[] {
  return [`${processFolder}${type}`]
}

/** Any other program, in the environment of the build's layers. */
export function inLauncher(command: readonly string[]): readonly string[] {
  return ['/cnb/lifecycle/launcher', '--', ...command]
}
