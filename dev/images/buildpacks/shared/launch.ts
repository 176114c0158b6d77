// How the processes of an image start: launch.toml (CNB buildpack specification, "launch.toml" of API 0.10), and a layer with
// the variables that they get ("Environment Variable Modification Rules"). JSON strings are valid TOML basic strings here.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** `folder`: where it starts; the folder of the app when absent. */
export type Process = { readonly type: string; readonly command: readonly string[]; readonly folder?: string }

/** Words without a meaning for a shell. */
const plainWord = /^[\w./:=@,+%-]+$/
/** A shell would set a variable of this form. */
const assignment = /^\w+=/
/** What makes more of a line than one command. */
const severalCommands = /[;&|<>(){}`\n]|^\s*(?:exec|cd|export|set|if|for|while|until|case|\.)\s/

/**
 * A command line as a list of words. One without anything that a shell interprets starts without a shell, and one command takes
 * the place of the shell, so that the program itself receives SIGTERM when its pod stops.
 */
export function commandOf(commandLine: string): readonly string[] {
  const words = commandLine.trim().split(/\s+/)
  const plain = words.every(word => plainWord.test(word)) && !assignment.test(words[0] ?? '')
  if (plain) return words
  const single = !severalCommands.test(commandLine.replaceAll(/\$\{\w+(:-[\w./-]*)?\}/g, '')) && !assignment.test(words[0] ?? '')
  return ['sh', '-c', single ? `exec ${commandLine.trim()}` : commandLine]
}

/**
 * The label that says in which folder of the app the application is (src/controllers/application/image/contents.ts): commands
 * that the Application names itself start there, as its processes do.
 */
const folderLabel = 'sekisho.dev/application-folder'

type LaunchOptions = {
  /** Paths in the app that become layers of their own, which other images share. */
  readonly slices?: readonly string[]
  /** Where the application is, relative to the app; `.` for the whole of it. */
  readonly folder?: string
}

/** `web` is the default, else the first process, which is never `release`. */
export function launchDescription(processes: readonly Process[], { slices = [], folder = '.' }: LaunchOptions = {}): string {
  const main = processes.find(({ type }) => type === 'web') ?? processes.find(({ type }) => type !== 'release')
  return [
    ...processes.map(process =>
      [
        `[[processes]]\ntype = ${JSON.stringify(process.type)}\ncommand = ${JSON.stringify(process.command)}\n`,
        process.folder === undefined ? '' : `working-dir = ${JSON.stringify(process.folder)}\n`,
        process === main ? 'default = true\n' : '',
      ].join(''),
    ),
    ...slices.map(path => `[[slices]]\npaths = [${JSON.stringify(path)}]\n`),
    ...(folder === '.' ? [] : [`[[labels]]\nkey = ${JSON.stringify(folderLabel)}\nvalue = ${JSON.stringify(folder)}\n`]),
  ].join('\n')
}

type LaunchLayer = {
  readonly name: string
  /** Set unless the process has it already. */
  readonly defaults?: Readonly<Record<string, string>>
  /** Put in front of PATH. */
  readonly path?: readonly string[]
}

/** A layer that only sets variables of the processes. Returns its folder. */
export function writeLaunchLayer(layersFolder: string, { name, defaults = {}, path = [] }: LaunchLayer): string {
  const folder = join(layersFolder, name)
  const variables = join(folder, 'env.launch')
  mkdirSync(variables, { recursive: true })
  for (const [variable, value] of Object.entries(defaults)) writeFileSync(join(variables, `${variable}.default`), value)
  if (path.length > 0) {
    writeFileSync(join(variables, 'PATH.prepend'), path.join(':'))
    writeFileSync(join(variables, 'PATH.delim'), ':')
  }
  writeFileSync(join(layersFolder, `${name}.toml`), '[types]\nlaunch = true\n')
  return folder
}
