// Starts a temporary PostgreSQL for tests with its own folder, free loopback port and password. PostgreSQL refuses to run as
// root, so root runs it as the account of the Debian package. It never touches a server that already runs.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SecretString } from '../../src/lib/secret-string.ts'
import { reservePort } from '../../src/lib/testing/reserved-port.ts'
import { accountToRunAs } from './account.ts'
import { cure, findPostgres } from './find-postgres.ts'

const run = promisify(execFile)

export type TestPostgres = {
  /** A URL for the named database, as the server's owner or as another role with its password. */
  readonly url: (database: string, role?: { readonly name: string; readonly password: string }) => SecretString
  /** Ends at once, as a crash does: sessions break off, and the next start recovers from the log. */
  readonly crash: () => Promise<void>
  /** After `crash`: resolves when the server answers again at the same address. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** `durable` waits for the disk at every commit, as in production; without it commits survive the process and not the machine. */
export type PostgresOptions = { readonly durable?: boolean }

/**
 * Resolves when the server answers; rejects with the command that installs PostgreSQL when it is missing. `stop()` removes
 * everything.
 */
export async function startPostgres({ durable = false }: PostgresOptions = {}): Promise<TestPostgres> {
  const programs = findPostgres()
  if (programs === undefined)
    throw new Error(
      `PostgreSQL was not found. Install it: ${cure} (or set SEKISHO_TEST_POSTGRES=skip to test the embedded database only)`,
    )
  const account = await accountToRunAs()
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-postgres-'))
  const password = randomBytes(12).toString('hex')
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (account) for (const path of [folder, passwordFile]) chownSync(path, account.uid, account.gid)
  const data = join(folder, 'data')
  const as = account ?? {}
  await run(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'owner', '--pwfile', passwordFile, '--auth=scram-sha-256', '--encoding=UTF8', '--no-locale', '--no-sync'],
    { ...as, cwd: folder },
  )
  const port = await reservePort()
  // Five workers of the sweep have two processes each at the moment of a restart, and their own connections beside them.
  const settings = ['-h', '127.0.0.1', '-k', folder, ...(durable ? [] : ['-F']), '-c', 'max_connections=150']
  const start = async (): Promise<ChildProcess> => {
    const stdio = ['ignore' as const, 'ignore' as const, 'pipe' as const]
    const started = spawn(join(programs, 'postgres'), ['-D', data, '-p', String(port), ...settings], {
      ...as,
      cwd: folder,
      stdio,
    })
    await untilReady(started)
    return started
  }
  let server = await start()
  const end = async (signal: 'SIGINT' | 'SIGQUIT'): Promise<void> => {
    const ended = new Promise(resolve => server.once('exit', resolve))
    if (server.exitCode === null && server.kill(signal)) await ended
  }
  return {
    url(database, role = { name: 'owner', password }) {
      return new SecretString(`postgresql://${role.name}:${role.password}@127.0.0.1:${port}/${database}`)
    },
    // SIGQUIT is PostgreSQL's immediate shutdown, SIGINT its fast one: sessions end, data is consistent.
    crash: () => end('SIGQUIT'),
    async restart() {
      server = await start()
    },
    async stop() {
      await end('SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function untilReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    server.stderr?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-8000)
      if (output.includes('ready to accept connections')) resolve()
    })
    server.once('exit', code => reject(new Error(`postgres ended with ${code} before it was ready:\n${output}`)))
  })
}
