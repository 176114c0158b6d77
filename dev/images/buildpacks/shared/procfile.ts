// The Procfile: one process per line, as `name: command`. Source: https://devcenter.heroku.com/articles/procfile
import { BuildFailure } from './build-failure.ts'

/** Command line by name of the process, in the order of the file. */
export type Procfile = ReadonlyMap<string, string>

const line = /^\s*([A-Za-z0-9_-]+)\s*:\s*(.+?)\s*$/
const longestName = 63

/** @throws BuildFailure that names the line which has another form */
export function parseProcfile(text: string): Procfile {
  const processes = new Map<string, string>()
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    if (raw.trim() === '' || raw.trim().startsWith('#')) continue
    const [, name = '', command = ''] = line.exec(raw) ?? []
    if (command === '' || name.length > longestName)
      throw new BuildFailure(`Procfile, line ${index + 1}: write "name: command", such as "web: node server.js"`)
    processes.set(name, command)
  }
  return processes
}
