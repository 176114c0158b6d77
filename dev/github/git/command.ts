// Runs one git command with a closed environment and bounded output. It never runs a shell, never reads the user's git
// configuration, and never passes a value that git could read as an option (callers use `--end-of-options` or a full ref name).
import { spawn } from 'node:child_process'
import { defined } from '../../../src/lib/json/defined.ts'

/** Runs `git` with these arguments and resolves to its standard output; rejects with git's message when it fails. */
export type GitCommand = (args: readonly string[], options?: GitOptions) => Promise<string>

export type GitOptions = {
  readonly cwd?: string
  readonly input?: string | Buffer
  readonly environment?: Readonly<Record<string, string>>
}

export class GitError extends Error {
  readonly exitCode: number | null
  /** Standard output up to the failure: `merge-tree` reports conflicts there. */
  readonly output: string
  constructor(message: string, exitCode: number | null, output: string) {
    super(message)
    this.name = 'GitError'
    this.exitCode = exitCode
    this.output = output
  }
}

const maxOutput = 32 * 1024 * 1024
const maxRun = 60_000

/** A runner whose processes see only `environment`, which must contain PATH. */
export function createGitCommand(environment: Readonly<Record<string, string>>): GitCommand {
  return (args, options = {}) =>
    new Promise((resolve, reject) => {
      const child = spawn('git', [...args], {
        ...defined({ cwd: options.cwd }),
        env: { ...environment, ...options.environment },
        timeout: maxRun,
      })
      const chunks: Buffer[] = []
      let size = 0
      let complaint = ''
      child.stdout.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > maxOutput) child.kill('SIGKILL')
        else chunks.push(chunk)
      })
      child.stderr.on('data', (chunk: Buffer) => {
        complaint = (complaint + chunk.toString('utf8')).slice(-4096)
      })
      child.on('error', reject)
      child.on('close', code => {
        const output = Buffer.concat(chunks).toString('utf8')
        if (code === 0) resolve(output)
        else
          reject(
            new GitError(`git ${args[0]} failed with exit code ${code ?? 'none (a signal)'}: ${complaint.trim()}`, code, output),
          )
      })
      // git may end before it has read all of its input; only its exit code counts.
      child.stdin.on('error', () => undefined)
      child.stdin.end(options.input ?? '')
    })
}
