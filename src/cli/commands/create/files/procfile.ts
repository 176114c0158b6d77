// A Procfile: buildpacks read it by themselves, so that only what they do not do is said. Pure.
// Source: https://devcenter.heroku.com/articles/procfile
import { type Found, inShell, most, processName } from './found.ts'

/** `isBuilt`: a Dockerfile builds the image, which then knows no Procfile: the processes are written down. */
export function readProcfile(text: string, withDockerfile: boolean): Found {
  const notes: string[] = []
  const lines = new Map<string, string>()
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (raw.trim() === '' || raw.trim().startsWith('#')) continue
    const [, name, command] = /^\s*([A-Za-z0-9_-]{1,63})\s*:\s*(.+?)\s*$/.exec(raw) ?? []
    if (name === undefined || command === undefined) notes.push(`line ${index + 1} is not "name: command"`)
    else lines.set(name, command)
    if (lines.size + notes.length > most.processes + most.notes) {
      notes.push('the rest is not read, it has too many lines')
      break
    }
  }
  const release = lines.get('release')
  const processes = [...lines]
    .filter(([name]) => name !== 'release')
    .map(([name, command]) => ({ name: processName(name), command: inShell(command) }))
  if (lines.has('cron') || lines.has('clock'))
    notes.push('a process that only waits for the time is better an entry of spec.cron')
  return {
    file: 'Procfile',
    ...(withDockerfile ? { processes } : {}),
    ...(release === undefined ? {} : { releaseJob: inShell(release) }),
    notes,
  }
}
