// Which processes and schedules an Application runs: those of the spec, with the programs that the image has for them, or those
// of the image. Pure.

import { processDefaults } from '../../../api/apps/application/process-defaults.ts'
import type { Application } from '../../../api/apps/application.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { ChartCron, ChartProcess } from '../../../services/charts/chart-input.ts'
import { type ContentsState, folderEnvironment, type ImageContents, inLauncher, knownContents, programOf } from './contents.ts'

type Spec = Application['spec']

/** Where buildpacks and most images expect requests when they are not told. */
const usualPort = 8080
/** Of `spec.processes`. */
export const maxProcesses = 10

/**
 * Whether what runs depends on what the image says. The entry point of an image of buildpacks is its process `web`: an
 * Application that names nothing else need not know more.
 */
export function needsContents({ processes, cron = [], releaseJob }: Spec): boolean {
  if (processes === undefined || cron.length > 0 || releaseJob !== undefined) return true
  return processes.some(({ name, command }) => name !== 'web' || command !== undefined)
}

type Program = { readonly name: string; readonly command?: readonly string[] | undefined }

/** The command of the container where it is not that of the spec. */
function commandOf({ name, command }: Program, contents: ImageContents | undefined): { readonly command?: string[] } {
  const found = contents?.processes
  if (found === undefined) return {}
  if (command !== undefined) return { command: [...inLauncher(command)] }
  const type = found.find(process => process.name === name)?.type
  return type === undefined || name === 'web' ? {} : { command: [...programOf(type)] }
}

function withProgram<P extends ChartProcess | ChartCron>(program: P, contents: ImageContents | undefined): P {
  return { ...program, ...commandOf(program, contents) }
}

/**
 * Those of the image: one pod each, except what runs by a schedule under the same name. Without knowledge of the image: its
 * entry point.
 */
function processesOfImage({ cron = [], isolated }: Spec, contents: ImageContents | undefined): readonly ChartProcess[] {
  const found = contents?.processes ?? [{ name: 'web' }]
  // Code that is not trusted does not choose how many pods it gets.
  const wanted = isolated === true ? (found.find(({ name }) => name === 'web') ?? found[0]) : undefined
  return (wanted === undefined ? found : [wanted])
    .filter(({ name }) => !cron.some(other => other.name === name))
    .map(({ name }) => ({ name, ...(name === 'web' ? { port: contents?.port ?? usualPort } : {}), ...processDefaults }))
}

/** What runs all the time. */
export function processesOf(spec: Spec, contents: ImageContents | undefined): readonly ChartProcess[] {
  return (spec.processes ?? processesOfImage(spec, contents)).map(process => withProgram(process, contents))
}

type Known = { readonly application: Application; readonly contents: ContentsState }

/** What an Application is known to run all the time. */
export function runningIn({ application: { spec }, contents }: Known): readonly ChartProcess[] {
  return processesOf(spec, knownContents(contents))
}

/** The ports of the image beside the one that was taken for `web`; none where the spec names the port. */
export function portsNotTaken({ application: { spec }, contents }: Known): readonly number[] {
  return spec.processes === undefined ? (knownContents(contents)?.otherPorts ?? []) : []
}

/** What the status shows of the image: what was read, and what runs because `spec.processes` is omitted. */
export function foundIn(known: Known): Pick<NonNullable<Application['status']>, 'imageContents' | 'processes'> {
  const { application, contents } = known
  const { image, processes } = application.spec
  const imageContents = knownContents(contents)
  const isKnown = image !== undefined && (imageContents !== undefined || contents.kind === 'unread')
  const shown = processes === undefined && isKnown ? runningIn(known).slice(0, maxProcesses) : undefined
  return defined({ imageContents, processes: shown?.map(({ name, port }) => ({ name, ...defined({ port }) })) })
}

/** The variables of every container: those of the spec, and where commands start, unless the spec says it itself. */
export function environmentOf({ application: { spec }, contents }: Known): NonNullable<Spec['env']> {
  const { env = [] } = spec
  const own = new Set(env.map(({ name }) => name))
  return [...folderEnvironment(knownContents(contents) ?? {}).filter(({ name }) => !own.has(name)), ...env]
}

/** What runs by a schedule. */
export function cronOf({ cron = [] }: Spec, contents: ImageContents | undefined): readonly ChartCron[] {
  return cron.map(entry => withProgram(entry, contents))
}
