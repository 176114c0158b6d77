// Why a process ended, and the cure that belongs to it, from the exit of its container and the end of its log. Pure. The log is
// text of the tenant: it is only searched by bounded patterns, and shown.
import { redactTokens } from '../../lib/log.ts'
import { applicationReasons as reasons } from '../apps/application.ts'
import type { ContainerStatus, Pod } from '../builtin/index.ts'
import { writableRootAttribute } from '../names.ts'
import { lastWords } from './last-words.ts'
import { type PodProblem, problem } from './problem.ts'
import { launcherProblem, programProblem } from './start-problem.ts'

export type Exit = { readonly exitCode: number; readonly reason?: string; readonly message?: string }

type Cure = { readonly pattern: RegExp; readonly cure: (match: RegExpExecArray) => string }

/** What the last words of programs mean here. The first that matches decides. */
const cures: readonly Cure[] = [
  {
    // Of a folder that is to be made with those above it, Node.js says ENOENT.
    pattern: /\bEROFS\b|read-only file ?system|ENOENT: no such file or directory, mkdir /i,
    cure: () =>
      `the file system of the image is read-only: write below /tmp, or set ${writableRootAttribute}: "true" in spec.attributes`,
  },
  {
    pattern: /Cannot find (?:module|package) '(?<name>[^'./\s][^'\s]{0,200})'/,
    cure: ({ groups }) =>
      `the image has no package ${packageOf(groups?.['name'] ?? '')}: list it in dependencies of package.json, because those in devDependencies are removed after the build`,
  },
  {
    pattern: /ModuleNotFoundError: No module named '(?<name>[\w.]{1,200})'/,
    cure: ({ groups }) => `the image has no Python module ${groups?.['name']}: list its package in the requirements, and push`,
  },
  {
    pattern: /listen EACCES\b|bind\(\)[^\n]{0,200}Permission denied/i,
    cure: () => 'a process may not have the rights for a port below 1024: listen on the port in the variable PORT',
  },
  {
    // Databases say the same of their tables.
    pattern: /\bEACCES\b|permission denied(?! (?:for|to) )|PermissionError: \[Errno 13\]/i,
    cure: () =>
      'a process runs under a user id of the tenant, not as the USER of the image: let group 0 or everybody read and write the file (chmod in the Dockerfile), or use /tmp',
  },
]

/** `@scope/name` of `@scope/name/file`, `name` of `name/file`. */
function packageOf(module: string): string {
  return module
    .split('/')
    .slice(0, module.startsWith('@') ? 2 : 1)
    .join('/')
}

/** `sh: 1: nodemon: not found`, `bash: line 1: nodemon: command not found`. */
const shellMisses = /: (?<program>[\w@.+/-]{1,200}): (?:command )?not found$/m
const notFound = 127

function cureOf({ exitCode, message = '' }: Exit): string | undefined {
  if (exitCode === 0)
    return 'a process must go on running: list what ends by itself in spec.cron, or what belongs before each release in spec.releaseJob'
  for (const { pattern, cure } of cures) {
    const match = pattern.exec(redactTokens(message))
    if (match !== null) return cure(match)
  }
  return undefined
}

/** The problem of a container that has ended, whether it waits to be started again or runs again. */
export function exitProblem({ metadata, spec }: Pod, { name, restartCount }: ContainerStatus, exit: Exit): PodProblem {
  const { exitCode, reason, message } = exit
  const command = spec?.containers.find(container => container.name === name)?.command
  const missing = exitCode === notFound ? shellMisses.exec(message ?? '')?.groups?.['program'] : undefined
  const unknown =
    launcherProblem(name, command, exit) ??
    (missing === undefined ? undefined : programProblem(name, { program: missing, isPruned: true }))
  if (unknown !== undefined) return unknown
  if (reason === 'OOMKilled')
    return problem(reasons.crashing, `process ${name} ran out of memory`, 'raise its memory in spec.processes')
  const words = lastWords(message)
  const why = words === undefined ? '' : ` (${words})`
  const ended = `process ${name} exits with code ${exitCode} after ${restartCount} restarts${why}`
  const logs = `kubectl logs -n ${metadata.namespace} ${metadata.name} -c ${name} --previous`
  return problem(reasons.crashing, ended, cureOf(exit) ?? `see ${logs}`)
}
