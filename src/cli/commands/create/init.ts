// `sekisho init`: the manifests of an application from the files of another platform in a folder, and what has no place here.
// It asks nobody; the files are read up to a bound.
import { open, stat, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import { printable } from '../../../lib/text/printable.ts'
import { json, type PlainFormat, type Terminal } from '../../output.ts'
import { gitIn, repositoryOfUrl } from '../builds/checkout.ts'
import { readAppJson } from './files/app-json.ts'
import { readCompose } from './files/compose.ts'
import { readDockerfile } from './files/dockerfile.ts'
import { type Found, type FoundProcess, most } from './files/found.ts'
import { readProcfile } from './files/procfile.ts'
import { manifestsOf, nameFrom, repositoryIn } from './manifests.ts'
import type { Wanted } from './wanted.ts'

export type InitOptions = {
  readonly repository?: string
  readonly name?: string
  readonly installation: string
  readonly namespace?: string
  readonly file: string
  readonly output: PlainFormat
}

const maxBytes = 256 * 1024
const composeFiles = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml']

/** Rejects with `invalid_request` for what cannot be read or written, and with `conflict` for a file that is there already. */
export async function init(terminal: Terminal, options: InitOptions, folder = '.'): Promise<void> {
  await requireFolder(folder)
  const found = await readFolder(folder)
  const repository = repositoryIn(options.repository ?? (await remoteOf(folder)))
  const named = found.find(({ name }) => name !== undefined)?.name
  const name = nameFrom(options.name ?? named ?? repository.split('/')[1] ?? basename(resolve(folder)))
  const { installation, namespace } = options
  const manifests = manifestsOf(wantedOf({ name, namespace, repository, installation }, found))
  const { stringify } = await import('yaml')
  const text = `${stringify(manifests.application)}---\n${stringify(manifests.remoteSync)}`
  const file = join(folder, options.file)
  await write(file, text)
  const notes = notesOf(found).map(note => printable(note.replaceAll('<application>', name)))
  if (options.output === 'json') return terminal.result(json({ file, name, read: found.map(one => one.file), notes }))
  const from =
    found.length === 0
      ? ', for buildpacks: there is no app.json, Procfile, compose file or Dockerfile'
      : ` from ${found.map(one => one.file).join(', ')}`
  terminal.result(`${file} written${from}. Next: kubectl apply -f ${file}`)
  for (const note of notes) terminal.say(`not taken over: ${note}`)
}

/** What was not taken over. */
function notesOf(found: readonly Found[]): readonly string[] {
  const beyond = processesOf(found)
    .filter(isDescribed)
    .slice(most.processes, most.processes + most.notes)
  return [
    ...found.flatMap(({ file, notes }) => notes.map(note => `${file}: ${note}`)),
    ...beyond.map(({ name }) => `process ${name}: an Application has at most ${most.processes}`),
  ]
}

async function requireFolder(folder: string): Promise<void> {
  const isFolder = await stat(folder).then(
    found => found.isDirectory(),
    () => false,
  )
  if (!isFolder) throw new AppError('invalid_request', `there is no folder ${printable(folder)}`)
}

/** The files of the folder that are known, a Dockerfile before the Procfile, which it makes mean something else. */
async function readFolder(folder: string): Promise<readonly Found[]> {
  const text = (file: string): Promise<string | undefined> => readBounded(join(folder, file))
  const [appJson, procfile, dockerfile] = await Promise.all(['app.json', 'Procfile', 'Dockerfile'].map(text))
  const composes = await Promise.all(composeFiles.map(async file => ({ file, text: await text(file) })))
  const compose = composes.find(one => one.text !== undefined)
  return [
    ...(dockerfile === undefined ? [] : [readDockerfile(dockerfile)]),
    ...(compose?.text === undefined ? [] : [await readCompose(compose.file, compose.text)]),
    ...(procfile === undefined ? [] : [readProcfile(procfile, dockerfile !== undefined)]),
    ...(appJson === undefined ? [] : [readAppJson(appJson)]),
  ]
}

/** Undefined when the file is not there. Rejects with `invalid_request` for one that is too large or is not UTF-8. */
async function readBounded(path: string): Promise<string | undefined> {
  let file: Awaited<ReturnType<typeof open>>
  try {
    file = await open(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new AppError('invalid_request', `${path} cannot be read`, { cause: error })
  }
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1)
    if (bytesRead > maxBytes) throw new AppError('invalid_request', `${path} is larger than ${maxBytes / 1024} KiB`)
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead))
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('invalid_request', `${path} is not a text in UTF-8`, { cause })
  } finally {
    await file.close()
  }
}

async function remoteOf(folder: string): Promise<string> {
  const url = await gitIn(folder)(['config', '--get', 'remote.origin.url'])
  const repository = url === undefined ? undefined : repositoryOfUrl(url)
  if (repository !== undefined) return repository
  throw new AppError('invalid_request', 'no repository: name it with --repository owner/name, or add a git remote origin')
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' })
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')
      throw new AppError('conflict', `${file} exists already: remove it, or name another with --file`, { cause })
    throw new AppError('invalid_request', `${file} cannot be written`, { cause })
  }
}

type Named = Pick<Wanted, 'name' | 'namespace' | 'repository' | 'installation'>

/** Processes of the same name are one, and what comes first counts. */
function processesOf(found: readonly Found[]): readonly FoundProcess[] {
  const processes = new Map<string, FoundProcess>()
  for (const process of found.flatMap(one => one.processes ?? []))
    processes.set(process.name, { ...process, ...processes.get(process.name) })
  return [...processes.values()]
}

function isDescribed({ command, port }: FoundProcess): boolean {
  return command !== undefined || port !== undefined
}

/** What all files say together. Pure. */
export function wantedOf(named: Named, found: readonly Found[]): Wanted {
  const processes = processesOf(found)
  // Without a program or a port a process is one that buildpacks find; how many of it there are is said for web alone.
  const described = processes.filter(isDescribed).slice(0, most.processes)
  const replicas = processes.find(({ name }) => name === 'web')?.replicas
  const env = new Map(found.flatMap(one => [...(one.env ?? [])]))
  const cron = found.flatMap(one => one.cron ?? [])
  const releaseJob = found.find(one => one.releaseJob !== undefined)?.releaseJob
  const build = found.find(one => one.build !== undefined)?.build ?? {}
  return {
    ...named,
    branch: undefined,
    subPath: undefined,
    build,
    application: {
      ...(described.length === 0 ? defined({ replicas }) : { processes: described }),
      ...(env.size === 0 ? {} : { env: [...env].map(([name, value]) => ({ name, value })) }),
      ...(cron.length === 0 ? {} : { cron }),
      ...(releaseJob === undefined ? {} : { releaseJob: { command: releaseJob } }),
    },
  }
}
