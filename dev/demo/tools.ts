// The tools of the demo's users: git, kubectl, the sekisho CLI. Each user has a home and an environment of their own, so that
// no command can use the credentials of another user. Secrets are passed to git in its environment, never as an argument or in
// a URL.
import { spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

export type Result = { readonly code: number; readonly output: string; readonly errors: string }

export type Person = {
  readonly login: string
  readonly home: string
  readonly environment: Readonly<Record<string, string>>
}

export type ToolPaths = {
  readonly folder: string
  readonly kubectl: string
  readonly sekisho: string
  readonly issuer: string
  readonly certificateAuthority: string
  /** The folder of the pinned Node. */
  readonly cache: string
}

/** Makes the home of a user and the environment of their commands. */
export async function person(paths: ToolPaths, login: string, path: string): Promise<Person> {
  const home = join(paths.folder, login)
  await mkdir(home, { recursive: true })
  return {
    login,
    home,
    environment: {
      PATH: path,
      HOME: home,
      XDG_CACHE_HOME: join(home, 'cache'),
      // All users share the pinned Node.
      SEKISHO_CACHE: paths.cache,
      XDG_CONFIG_HOME: join(home, 'config'),
      KUBECONFIG: join(home, 'kubeconfig'),
      SEKISHO_ISSUER: paths.issuer,
      SEKISHO_CA_FILE: paths.certificateAuthority,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
    },
  }
}

export type RunOptions = {
  readonly folder?: string
  readonly input?: string
  readonly environment?: Readonly<Record<string, string>>
}

/** Runs a tool to its end, whatever its exit code. */
export function run(who: Person, program: string, args: readonly string[], options: RunOptions = {}): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.folder ?? who.home,
      env: { ...who.environment, ...options.environment },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: 60_000,
    })
    const output: Buffer[] = []
    const errors: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
    child.on('error', reject)
    child.on('close', code =>
      resolve({ code: code ?? 1, output: Buffer.concat(output).toString(), errors: Buffer.concat(errors).toString() }),
    )
    child.stdin.on('error', () => {}) // a tool may end without reading its input
    child.stdin.end(options.input ?? '')
  })
}

/** Runs a tool that must succeed; resolves to its output without the last line break. */
export async function mustRun(who: Person, program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const result = await run(who, program, args, options)
  if (result.code !== 0)
    throw new Error(
      `${who.login}: ${program.split('/').at(-1)} ${args.join(' ')} failed with exit code ${result.code}: ${result.errors.trim().slice(-800)}`,
    )
  return result.output.trimEnd()
}

/** The environment with which git signs in over HTTP with a personal access token. */
export function gitCredential(login: string, token: string): Readonly<Record<string, string>> {
  const basic = Buffer.from(`${login}:${token}`).toString('base64')
  return { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'http.extraHeader', GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}` }
}
