// What compilers, bundlers and Node.js itself say about the code of an application.
import { group, type Rule } from '../rule.ts'

const root = /^(?:file:\/\/)?\/workspace\//

/** The last `file:line` that stands before a position, as Node.js prints it above an error. */
function placeBefore(text: string, at: number): string {
  const found = [...text.slice(0, at).matchAll(/^((?:file:\/\/)?\/[^\s:]+):(\d+)$/gm)].at(-1)
  return found === undefined ? '' : ` in ${group(found as RegExpExecArray, 1).replace(root, '')}, line ${found[2] ?? '?'}`
}

function otherErrors(text: string, pattern: RegExp): string {
  const more = [...text.matchAll(pattern)].length - 1
  return more > 0 ? ` (and ${more} more)` : ''
}

/** `./x` and `/x` are files; everything else is a package, which may have a scope. */
function missingModule(name: string, importer: string): string {
  if (/^[./]/.test(name))
    return `there is no file ${name.replace(root, '')}${importer}: correct the import; file names are case-sensitive`
  const parts = name.split('/').slice(0, name.startsWith('@') ? 2 : 1)
  return `the package ${parts.join('/')} is not installed${importer}: add it to dependencies (or devDependencies) in package.json and commit the lock file`
}

/** No package of npm has them. */
const systemPrograms =
  /^(?:make|cmake|gcc|g\+\+|cc|c\+\+|clang|ld|ar|pkg-config|autoconf|python3?|pip3?|git|curl|wget|unzip|zip|tar|bash|java|go|cargo|ruby|bundle|php|composer|docker)$/

function missingCommand(name: string): string {
  if (name.includes('/'))
    return `there is no program ${name}, or none that its first line names: correct the path; names are case-sensitive`
  return systemPrograms.test(name)
    ? `the command ${name} was not found: the builder does not have it; do without it, or build with a Dockerfile that installs it`
    : `the command ${name} was not found: add the package that contains it to dependencies or devDependencies in package.json`
}

export const javascriptRules: readonly Rule[] = [
  {
    pattern: /^(\S.*?)(?:\((\d+),\d+\)|:(\d+):\d+)(?::| -) error (TS\d+): (.+)$/m,
    say: (match, { text }) =>
      `TypeScript: ${group(match, 1).replace(root, '')}, line ${group(match, 2) || group(match, 3)}: ${group(match, 5)} (${group(match, 4)})${otherErrors(text, / error TS\d+:/g)}`,
  },
  { pattern: /^error (TS\d+): (.+)$/m, say: match => `TypeScript: ${group(match, 2)} (${group(match, 1)})` },
  {
    pattern: /^(?:sh: (?:\d+: |line \d+: )?|\/bin\/sh: )(\S+?): (?:command )?not found$/m,
    say: match => missingCommand(group(match, 1)),
  },
  {
    pattern: /Module not found: (?:Error: )?Can't resolve '(.+?)'(?: in '(.+?)')?/m,
    say: match => missingModule(group(match, 1), match[2] === undefined ? '' : ` (imported in ${match[2].replace(root, '')})`),
  },
  {
    pattern: /Rollup failed to resolve import "(.+?)" from "(.+?)"/m,
    say: match => missingModule(group(match, 1), ` (imported in ${group(match, 2).replace(root, '')})`),
  },
  {
    pattern: /^Could not resolve "(.+?)" from "(.+?)"$/m,
    say: match => missingModule(group(match, 1), ` (imported in ${group(match, 2).replace(root, '')})`),
  },
  {
    pattern: /^Could not resolve entry module "(.+?)"/m,
    say: match =>
      `the bundler begins with ${group(match, 1)}, and there is no such file: add it, or name another entry in its configuration`,
  },
  {
    pattern: /^ERROR in (\S+)(?: (\d+):\d+)?\n.*\nYou may need an (?:appropriate|additional) loader/m,
    say: match =>
      `webpack has no loader for ${group(match, 1)}: add the loader for files of this kind to its configuration, and the package to devDependencies`,
  },
  {
    pattern: /^(\S+)\n(?:\s+\d+:\d+\s+warning\s.*\n){0,20}\s+(\d+):\d+\s+error\s+(\S.*?)(?:\s{2,}\S+)?$/m,
    say: match => `ESLint: ${group(match, 1).replace(root, '')}, line ${group(match, 2)}: ${group(match, 3)}`,
  },
  {
    pattern: /\[ERROR\] Could not resolve "(.+?)"/m,
    say: (match, { text }) => {
      const place = /^\s+(\S+):(\d+):\d+:$/m.exec(text.slice(match.index))
      return missingModule(group(match, 1), place === null ? '' : ` (imported in ${group(place, 1)}, line ${group(place, 2)})`)
    },
  },
  { pattern: /\[ERROR\] (.+)$/m, say: match => `the bundler says: ${group(match, 1)}` },
  {
    pattern: /Error(?: \[ERR_MODULE_NOT_FOUND\])?: Cannot find (?:module|package) '(.+?)'(?: imported from (.+?)$)?/m,
    say: match =>
      missingModule(
        group(match, 1),
        match[2] === undefined ? '' : ` (imported in ${match[2].replaceAll("'", '').replace(root, '')})`,
      ),
  },
  {
    pattern: /ReferenceError: (require|module|exports|__dirname) is not defined in ES module scope/m,
    say: (match, { text }) =>
      `${group(match, 1)} is used in an ES module${placeBefore(text, match.index)}: write import, name the file .cjs, or remove "type": "module" from package.json`,
  },
  {
    pattern: /^SyntaxError: (.+)$/m,
    say: (match, { text }) => `syntax error${placeBefore(text, match.index)}: ${group(match, 1)}`,
  },
  {
    pattern: /^(?:Uncaught )?((?:[A-Z]\w*)?Error(?: \[\w+\])?): (.+)$/m,
    say: (match, { text }) => {
      const place = placeBefore(text, match.index)
      return place === ''
        ? `${group(match, 1)}: ${group(match, 2)}`
        : `the program stopped${place}: ${group(match, 1)}: ${group(match, 2)}`
    },
  },
]
