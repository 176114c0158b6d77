// Runs a program whose output is part of the log, and looks at what it said when it failed.
import { spawnSync } from 'node:child_process'
import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { BuildFailure } from './build-failure.ts'
import { registryFailure } from './registry-failure.ts'
import type { Program } from './run-program.ts'

/** `output`: the last 64 KiB of both streams. */
export type Outcome = { readonly code: number; readonly output: string }

const longest = 65_536
/** The shell's own code is that of tee: the one of the program goes through a file. */
const script = '{ "$@" 2>&1; echo $? >"$0/code"; } | tee "$0/log"'

/** @throws BuildFailure when it cannot start; any exit code is an outcome */
export function runLogged({ command, folder, environment }: Program): Outcome {
  const scratch = mkdtempSync(join(tmpdir(), 'sekisho-log-'))
  try {
    const { error } = spawnSync('sh', ['-c', script, scratch, ...command], {
      cwd: folder,
      env: { ...environment },
      stdio: 'inherit',
    })
    if (error) throw new BuildFailure(`${command.join(' ')} cannot be started: ${error.message}`)
    return { code: Number(readFileSync(join(scratch, 'code'), 'utf8')), output: endOf(join(scratch, 'log')) }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/**
 * As runLogged, for a program that must succeed. `sentence`: what its output means, where a person would not see it; a registry
 * that is away or refuses is recognized in any case.
 * @throws BuildFailure
 */
export function demandLogged(program: Program, sentence: (output: string) => string | undefined = () => undefined): void {
  const { code, output } = runLogged(program)
  if (code === 0) return
  throw new BuildFailure(sentence(output) ?? registryFailure(output) ?? `${program.command.join(' ')} ${endedBy(code)}`)
}

function endedBy(code: number): string {
  const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0]
  return signal === undefined ? `failed with exit code ${code}` : `was ended by ${signal}`
}

function endOf(file: string): string {
  const open = openSync(file, 'r')
  try {
    const { size } = fstatSync(open)
    const bytes = Buffer.alloc(Math.min(size, longest))
    return bytes.toString('utf8', 0, readSync(open, bytes, 0, bytes.length, size - bytes.length))
  } finally {
    closeSync(open)
  }
}
