// The processes of an app: those of its Procfile, and `web` by scripts.start, main or a conventional file name.
import type { Process } from '../shared/launch.ts'
import { commandOf } from '../shared/launch.ts'
import type { Procfile } from '../shared/procfile.ts'
import type { PackageDescription } from './package-description.ts'

const conventionalFiles = ['server.js', 'index.js', 'server.mjs', 'index.mjs', 'server.ts', 'index.ts']

/** `npm start`, `yarn worker`, `pnpm run worker`: a script of package.json and nothing else. */
const scriptCall = /^(?:npm|pnpm|yarn)\s+(?:run\s+)?([\w:.-]+)$/

/** They serve files for their own developer, who edits them; what they build is a static site. */
const developmentServer =
  /^(?:npx\s+)?(?:react-scripts start|vite(?: dev| serve| preview)?|ng serve|vue-cli-service serve|gatsby develop|parcel|webpack(?:-dev-server| serve))(?:\s|$)/

type Found = Pick<PackageDescription, 'scripts' | 'main'>

/**
 * Undefined when nothing says how the app starts. Order for `web`: the Procfile, scripts.start, main, a conventional file name.
 * `exists` takes paths relative to the app; call this after the build, which may create the files.
 */
export function findProcesses(
  found: Found,
  procfile: Procfile,
  exists: (path: string) => boolean,
): readonly Process[] | undefined {
  const declared = [...procfile].map(([type, line]) => ({ type, command: resolveScript(line, found.scripts) }))
  if (procfile.has('web')) return declared
  const web = webCommand(found, exists)
  if (web !== undefined) return [{ type: 'web', command: web }, ...declared]
  return declared.length > 0 ? declared : undefined
}

function webCommand({ scripts, main }: Found, exists: (path: string) => boolean): readonly string[] | undefined {
  const start = scripts['start']?.trim() ?? ''
  if (start !== '') return developmentServer.test(start) ? undefined : resolveScript('npm start', scripts)
  const file = [...(main === undefined ? [] : [main]), ...conventionalFiles].find(exists)
  return file === undefined ? undefined : ['node', file]
}

/**
 * The script itself where npm would add nothing to it: npm is a process more in every pod, and the program would not be the one
 * that receives SIGTERM.
 */
function resolveScript(line: string, scripts: Readonly<Record<string, string>>): readonly string[] {
  const name = scriptCall.exec(line.trim())?.[1]
  const script = name === undefined ? undefined : scripts[name]
  if (script === undefined || scripts[`pre${name}`] !== undefined || scripts[`post${name}`] !== undefined) return commandOf(line)
  return commandOf(script)
}

/**
 * The file that `node file …` would run and that does not exist, with `extensions` as Node.js tries them; undefined when all is
 * well or unknown.
 */
export function missingFile(command: readonly string[], exists: (path: string) => boolean): string | undefined {
  const [program, file = ''] = command
  if (program !== 'node' || file === '' || file.startsWith('-')) return undefined
  const candidates = [file, `${file}.js`, `${file}.json`, `${file}/index.js`, `${file}/package.json`]
  return candidates.some(exists) ? undefined : file
}
