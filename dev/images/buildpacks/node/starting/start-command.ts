// The processes of an app: those of its Procfile, and `web` by scripts.start, main or a conventional file name.
import { BuildFailure } from '../../shared/build-failure.ts'
import type { Process } from '../../shared/launch.ts'
import { commandOf } from '../../shared/launch.ts'
import type { Procfile } from '../../shared/procfile.ts'
import type { PackageDescription } from '../package-description.ts'

const conventionalFiles = ['server.js', 'index.js', 'server.mjs', 'index.mjs', 'server.ts', 'index.ts']

/** `npm start`, `yarn worker --port 1`, `pnpm run worker`, `pnpm exec next start`: one script or program, and its arguments. */
const call =
  /^(?<manager>npm|pnpm|yarn)\s+(?:(?<verb>run(?:-script)?|exec)\s+)?(?<name>\w[\w:.-]*)(?<rest>(?:\s+[\w./:=@,+%-]+)*)$/
/** What npm runs without `run`. */
const shortScripts = ['start', 'test', 'stop', 'restart']
/** The same within a line of shell. */
const callInShell = /(^|&&|;|\|\|?)(\s*(?:\w+=\S+\s+)*)(?:pnpm|yarn)\s+(?:run\s+)?(\w[\w:.-]*)(?=\s*(?:$|&&|;|\|))/g
/** Scripts of people do not lead further. */
const deepest = 10

/** They serve files for their own developer, who edits them; what they build is a static site. */
const developmentServer =
  /^(?:npx\s+)?(?:react-scripts start|vite(?: dev| serve| preview)?|ng serve|vue-cli-service serve|gatsby develop|parcel|webpack(?:-dev-server| serve))(?:\s|$)/

/** What the processes follow from. Paths are relative to the folder of the application. */
export type Startable = Pick<PackageDescription, 'scripts' | 'main'> & {
  readonly exists: (path: string) => boolean
  /** Whether node_modules has a program of this name. */
  readonly hasProgram: (name: string) => boolean
  /** Whether the package manager runs `pre…` and `post…`. */
  readonly runsHooks: boolean
  /** Whether a page of the app loads this file: then it is a program for browsers. */
  readonly isOfPage: (path: string) => boolean
}

/**
 * Undefined when nothing says how the app starts. Order for `web`: the Procfile, scripts.start, main, a conventional file name.
 * Call this after the build, which may create the files. @throws BuildFailure
 */
export function findProcesses(app: Startable, procfile: Procfile): readonly Process[] | undefined {
  const declared = [...procfile].map(([type, line]) => ({ type, command: resolveLine(line, app) }))
  if (procfile.has('web')) return declared
  const web = webCommand(app)
  if (web !== undefined) return [{ type: 'web', command: web }, ...declared]
  return declared.length > 0 ? declared : undefined
}

function webCommand(app: Startable): readonly string[] | undefined {
  const { scripts, exists, isOfPage } = app
  const start = scripts['start']?.trim() ?? ''
  if (start !== '') return developmentServer.test(start) ? undefined : resolveLine('npm start', app)
  const isProgram = (file: string): boolean => exists(file) && !isOfPage(file)
  const main = mainFile(app)
  const file = main !== undefined && !isOfPage(main) ? main : conventionalFiles.find(isProgram)
  return file === undefined ? undefined : ['node', file]
}

/** As `node` finds the file: https://nodejs.org/api/modules.html#all-together . Other kinds of files do not run. */
function mainFile({ main, exists }: Pick<Startable, 'main' | 'exists'>): string | undefined {
  if (main === undefined || main.trim() === '' || /\.(?:html?|css|json|md)$/.test(main)) return undefined
  return ['', '.js', '/index.js'].some(end => exists(main + end)) ? main : undefined
}

/**
 * The program itself where a package manager would add nothing to it: npm is a process more in every pod, the program would not
 * be the one that receives SIGTERM, and the image has no pnpm and no yarn.
 */
function resolveLine(line: string, app: Startable, depth = 0): readonly string[] {
  const { manager = '', verb, name = '', rest = '' } = call.exec(line.trim())?.groups ?? {}
  if (manager === '') return commandOf(line.replace(callInShell, (whole, ...parts: string[]) => inShell(whole, parts, app)))
  const parameters = rest
    .trim()
    .split(/\s+/)
    .filter(word => word !== '')
  if (verb === 'exec' || (manager === 'npm' && verb === undefined && !shortScripts.includes(name)))
    return manager === 'npm' || !app.hasProgram(name) ? commandOf(line) : [name, ...parameters]
  const found: Call = { manager, name, parameters }
  const script = app.scripts[name]
  if (script === undefined) return withoutScript(line, app, found)
  if (depth === deepest)
    throw new BuildFailure(`package.json: scripts.${name} calls itself: name a program, such as "node server.js"`)
  if (runsMore(app, found)) return byNpm(found)
  return resolveLine([script, ...parameters.filter((word, index) => index > 0 || word !== '--')].join(' '), app, depth + 1)
}

function runsMore({ scripts, runsHooks }: Startable, { manager, name }: Call): boolean {
  const hasHooks = scripts[`pre${name}`] !== undefined || scripts[`post${name}`] !== undefined
  return hasHooks && (manager !== 'yarn' || runsHooks)
}

/** npm is what the image has. */
function byNpm({ name, parameters }: Call): readonly string[] {
  const words = name === 'start' ? ['npm', 'start'] : ['npm', 'run', name]
  return parameters.length === 0 || parameters[0] === '--' ? [...words, ...parameters] : [...words, '--', ...parameters]
}

type Call = { readonly manager: string; readonly name: string; readonly parameters: readonly string[] }

/** `npm start` has a default, and pnpm and yarn run programs of packages, too. */
function withoutScript(line: string, app: Startable, { manager, name, parameters }: Call): readonly string[] {
  if (name === 'start' && app.exists('server.js')) return ['node', 'server.js', ...parameters]
  return manager !== 'npm' && app.hasProgram(name) ? [name, ...parameters] : commandOf(line)
}

function inShell(whole: string, [before = '', variables = '', name = '']: readonly string[], { scripts }: Startable): string {
  return scripts[name] === undefined ? whole : `${before}${variables}npm run ${name}`
}
