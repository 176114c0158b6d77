// Runs a program of the build; its output is part of the log.
import { spawnSync } from 'node:child_process'
import { BuildFailure } from './build-failure.ts'
import type { Environment } from './config.ts'

export type Program = {
  readonly command: readonly [string, ...string[]]
  readonly folder: string
  readonly environment: Environment
}

/** @throws BuildFailure when it cannot start, is killed, or exits with another code than 0 */
export function runProgram({ command, folder, environment }: Program): void {
  const [program, ...parameters] = command
  const shown = command.join(' ')
  const { status, signal, error } = spawnSync(program, parameters, { cwd: folder, env: { ...environment }, stdio: 'inherit' })
  if (error) throw new BuildFailure(`${shown} cannot be started: ${error.message}`)
  if (signal !== null) throw new BuildFailure(`${shown} was ended by ${signal}`)
  if (status !== 0) throw new BuildFailure(`${shown} failed with exit code ${status}`)
}
