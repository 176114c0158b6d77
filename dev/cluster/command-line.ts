// How every command line of dev/ ends: with the exit code of its run, or with the message of its failure on standard error.
import { messageOf } from '../../src/lib/errors.ts'

/** Runs a command with the arguments of this process and sets the exit code to what it resolves to, or to 1 when it fails. */
export async function runCommandLine(name: string, run: (args: string[]) => Promise<number>): Promise<void> {
  try {
    process.exitCode = await run(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${name}: ${isDefect(error) ? error.stack : messageOf(error)}\n`)
    process.exitCode = 1
  }
}

/** Prints the result of a command. */
export function print(text: string): void {
  process.stdout.write(text)
}

/** Prints how to call a command and returns the exit code: 0 when help was asked for, 2 for a wrong call. */
export function printUsage(usage: string, asked = false): number {
  process.stderr.write(usage)
  return asked ? 0 : 2
}

/**
 * A defect of this code, for which the place matters. Node's refusals, such as of an unknown flag, are TypeErrors with a code.
 */
function isDefect(error: unknown): error is Error {
  return (error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError) && !('code' in error)
}
