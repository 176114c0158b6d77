// Whether what a process runs is in the image: its program, its file, the packages that `node` loads first. Only what is certain
// is a problem; a line that only a shell understands is not judged. Pure.
import { posix } from 'node:path'
import { simpleCommands, type Word } from './simple-commands.ts'

/** The image as the build knows it when only the packages of production are left. Paths are relative to the app, or absolute. */
export type BuiltImage = {
  /** A path in `folder`: whether it exists; undefined when it is outside of the app. */
  readonly exists: (folder: string, path: string) => boolean | undefined
  /** Whether a file of the app may be executed. */
  readonly isExecutable: (folder: string, path: string) => boolean
  /** Its first line. */
  readonly firstLine: (folder: string, path: string) => string
  /** Whether node_modules, or the run image, has a program. */
  readonly hasProgram: (folder: string, name: string) => boolean
  readonly hasPackage: (folder: string, name: string) => boolean
  /** The package of devDependencies that has the program, which is therefore not there. */
  readonly developmentPackageOf: (program: string) => string | undefined
  readonly isDevelopmentPackage: (name: string) => boolean
  /** What is said of a file that is not there, such as ` after the build script`. */
  readonly when: string
  /** Scripts of the package.json in `folder`; undefined of one that was not read. */
  readonly scripts: (folder: string) => Readonly<Record<string, string>> | undefined
}

export type Started = { readonly type: string; readonly command: readonly string[]; readonly folder: string }

/** Programs of the shell itself, and of the image under any circumstances. */
const builtIn = new Set(['cd', 'export', 'set', 'unset', 'umask', 'ulimit', 'wait', 'echo', 'printf', ':', 'read', 'shift'])
const shells = new Set(['sh', 'bash', 'ash', 'dash', 'zsh'])
const deepest = 5
/** Options of node whose value is the next word. */
const withValue = new Set([
  '-r',
  '--require',
  '--import',
  '--loader',
  '--experimental-loader',
  '-C',
  '--conditions',
  '--env-file',
])
const loads = new Set(['-r', '--require', '--import', '--loader', '--experimental-loader'])

/** One sentence with the cure, or undefined when nothing is known to be missing. */
export function startProblem({ type, command, folder }: Started, image: BuiltImage): string | undefined {
  const words = command.map(text => ({ text, certain: true }))
  const shown = command[0] === 'sh' && command[1] === '-c' ? (command[2] ?? '').replace(/^exec /, '') : command.join(' ')
  const problem = problemOf(words, { folder, depth: 0, image, shown: shown.slice(0, 200) })
  return problem === undefined ? undefined : `process ${type} runs ${problem}`
}

type Place = { readonly folder: string; readonly depth: number; readonly image: BuiltImage; readonly shown: string }

function problemOf(words: readonly Word[], place: Place): string | undefined {
  const [first, ...rest] = words
  if (first === undefined || !first.certain || first.text === '' || place.depth > deepest) return undefined
  const program = first.text
  if (builtIn.has(program)) return undefined
  const missing = programProblem(program, place)
  if (missing !== undefined) return missing
  const name = posix.basename(program)
  if (name === 'node') return nodeProblem(rest, place)
  if (shells.has(name)) return shellProblem(rest, place)
  if (name === 'npm') return scriptProblem(rest, place)
  if (name === 'npx') return npxProblem(rest, place)
  if (name === 'env' || name === 'cross-env') {
    const after = rest.findIndex(({ text }) => !/^\w+=/.test(text))
    return after < 0 || rest[after]?.text.startsWith('-') ? undefined : problemOf(rest.slice(after), deeper(place))
  }
  return undefined
}

function deeper(place: Place): Place {
  return { ...place, depth: place.depth + 1 }
}

const move = (name: string): string => `move ${name} from devDependencies to dependencies, and commit the lock file`

function programProblem(program: string, { folder, image, shown }: Place): string | undefined {
  if (program.includes('/')) return fileProblem(program, { folder, image, shown })
  if (image.hasProgram(folder, program)) return undefined
  if (program === 'pnpm' || program === 'yarn')
    return `${shown}, and the image has no ${program}: name the program itself, such as "node server.js", or use npm, which it has`
  const development = image.developmentPackageOf(program)
  if (development !== undefined)
    return `${shown}, and ${program} is a program of the package ${development}, which is not in the image: ${move(development)}`
  return `${shown}, and the image has no program ${program}: add the package that contains it to dependencies, or correct the command`
}

function fileProblem(path: string, { folder, image, shown }: Omit<Place, 'depth'>): string | undefined {
  const found = image.exists(folder, path)
  if (found === undefined) return undefined
  if (!found) return `${shown}, and there is no file ${path}${image.when}: correct the command, or what creates the file`
  if (!image.isExecutable(folder, path))
    return `${shown}, and ${path} is not executable: run "git update-index --chmod=+x ${path}" and commit, or name its interpreter`
  return interpreterProblem(path, { folder, image, shown })
}

/** Source: execve(2), "Interpreter scripts". */
function interpreterProblem(path: string, { folder, image, shown }: Omit<Place, 'depth'>): string | undefined {
  const [, interpreter = '', parameter = ''] =
    /^#!\s*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?/.exec(image.firstLine(folder, path)) ?? []
  if (interpreter === '') return undefined
  if (image.firstLine(folder, path).endsWith('\r'))
    return `${shown}, and ${path} has the line ends of Windows, so that its interpreter is not found: save it with line ends LF`
  const program = posix.basename(interpreter) === 'env' ? parameter : posix.basename(interpreter)
  if (program === '' || program.startsWith('-') || image.hasProgram(folder, program)) return undefined
  return `${shown}, and ${path} asks for ${program}, which is not in the image: write it for sh or node`
}

/** Options without a value. After another one, the next word may be its value, or a program in the command itself. */
const flags =
  /^--(?:enable-source-maps|inspect(?:-brk)?|expose-gc|(?:no|trace|use|experimental|preserve)-[\w-]+|abort-on-uncaught-exception)$/

function nodeProblem([first, ...rest]: readonly Word[], place: Place): string | undefined {
  if (first?.certain !== true) return undefined
  const { text } = first
  if (!text.startsWith('-')) return missingFile(text, place)
  const [option = '', ...parts] = text.split('=')
  const takesNext = withValue.has(text)
  if (!takesNext && parts.length === 0 && !flags.test(option)) return undefined
  const value = takesNext ? rest[0]?.text : parts.join('=')
  const unloaded = loads.has(option) && value ? packageProblem(value, place) : undefined
  return unloaded ?? (/^--(?:eval|print|run)$/.test(option) ? undefined : nodeProblem(takesNext ? rest.slice(1) : rest, place))
}

/** `node file` takes these names, too. https://nodejs.org/api/modules.html#file-modules */
const ends = ['', '.js', '.json', '.node', '/index.js', '/package.json']

function missingFile(file: string, { folder, image, shown }: Omit<Place, 'depth'>): string | undefined {
  const answers = ends.map(end => image.exists(folder, file + end))
  if (answers.includes(true) || answers.includes(undefined)) return undefined
  return `${shown}, and there is no file ${file}${image.when}: correct the command, or what creates the file`
}

/** What `node --import` names: a package, or a file. */
function packageProblem(wanted: string, { folder, image, shown }: Place): string | undefined {
  if (/^(?:\.{0,2}\/|node:|data:|file:)/.test(wanted)) return undefined
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(wanted)?.[0] ?? wanted
  if (image.hasPackage(folder, name) || !image.isDevelopmentPackage(name)) return undefined
  return `${shown}, and the package ${name} is not in the image: ${move(name)}`
}

function shellProblem(words: readonly Word[], place: Place): string | undefined {
  const [option, line] = words
  if (option === undefined || !option.certain) return undefined
  if (option.text === '-c') return line?.certain === true ? lineProblem(line.text, deeper(place)) : undefined
  if (option.text.startsWith('-')) return undefined
  const { folder, image, shown } = place
  if (image.exists(folder, option.text) !== false) return undefined
  return `${shown}, and there is no file ${option.text}${image.when}: correct the command, or what creates the file`
}

/** A line of shell. After `cd`, names of files mean that folder. */
function lineProblem(line: string, place: Place): string | undefined {
  let { folder } = place
  for (const words of simpleCommands(line) ?? []) {
    const [first, target] = words
    if (first?.text === 'cd') {
      if (target?.certain !== true || place.image.exists(folder, target.text) !== true) return undefined
      folder = posix.join(folder, target.text)
      continue
    }
    const problem = problemOf(words, { ...place, folder })
    if (problem !== undefined) return problem
  }
  return undefined
}

/** `npm start`, `npm run x`: what npm runs for it. Options may lead into another folder. */
function scriptProblem(words: readonly Word[], place: Place): string | undefined {
  const texts = words.map(({ text }) => text)
  const name = texts[0] === 'run' || texts[0] === 'run-script' ? texts[1] : texts[0] === 'start' ? 'start' : undefined
  if (name === undefined || texts.some(text => /^(?:-C|-w|--(?:prefix|workspaces?|if-present))\b/.test(text))) return undefined
  const scripts = place.image.scripts(place.folder)
  if (scripts === undefined) return undefined
  if (scripts[name] === undefined && name === 'start' && place.image.exists(place.folder, 'server.js') !== false) return undefined
  if (scripts[name] === undefined)
    return `${place.shown}, and package.json has no script "${name}": add it to scripts, or correct the command`
  for (const script of [`pre${name}`, name]) {
    const problem = scripts[script] === undefined ? undefined : lineProblem(scripts[script], deeper(place))
    if (problem !== undefined) return problem
  }
  return undefined
}

/** npx would fetch the program at each start. */
function npxProblem(words: readonly Word[], { folder, image, shown }: Place): string | undefined {
  const program = words.find(({ text }) => !text.startsWith('-'))
  if (program?.certain !== true || image.hasProgram(folder, program.text)) return undefined
  const development = image.developmentPackageOf(program.text)
  if (development === undefined) return undefined
  return `${shown}, and ${program.text} is a program of the package ${development}, which is not in the image: ${move(development)}`
}
