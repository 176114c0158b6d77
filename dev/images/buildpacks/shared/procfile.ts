// The Procfile: one process per line, as `name: command`. Source: https://devcenter.heroku.com/articles/procfile
import { BuildFailure } from './build-failure.ts'

/** Command line by name of the process, in the order of the file. */
export type Procfile = ReadonlyMap<string, string>

/** Heroku's release phase: it runs once before a release, never beside the others. */
export const releaseType = 'release'

const line = /^\s*([A-Za-z0-9_-]+)\s*:\s*(.+?)\s*$/
const maxName = 63
/** A Procfile of people has a few lines. */
export const procfileLimit = 65_536
/** As many as an Application reads from an image, and one for `release`. */
const maxProcesses = 21

/** @throws BuildFailure that names the line which has another form */
export function parseProcfile(text: string): Procfile {
  const processes = new Map<string, string>()
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    if (raw.trim() === '' || raw.trim().startsWith('#')) continue
    const [, name = '', command = ''] = line.exec(raw) ?? []
    if (command === '' || name.length > maxName)
      throw new BuildFailure(`Procfile, line ${index + 1}: write "name: command", such as "web: node server.js"`)
    processes.set(name, command)
    if (processes.size > maxProcesses)
      throw new BuildFailure(`Procfile, line ${index + 1}: an image has at most ${maxProcesses - 1} processes beside release`)
  }
  return processes
}

/** What the log says of a line `release`; undefined when there is none, or the Application has a release job. */
export function releaseNote(procfile: Procfile, hasReleaseJob: boolean): string | undefined {
  if (!procfile.has(releaseType) || hasReleaseJob) return undefined
  return 'WARNING: the line release of the Procfile does not run by itself: set spec.releaseJob.command of the Application to ["/cnb/process/release"], and it runs before each release'
}
