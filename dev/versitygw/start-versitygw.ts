// Starts a temporary store of buckets for tests, with its own folder, free loopback ports and key: versitygw's S3 and IAM. It
// never touches a store that already runs.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SecretString } from '../../src/lib/secret-string.ts'
import { reservePort } from '../../src/lib/testing/reserved-port.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { catalog } from '../cluster/binaries/catalog.ts'
import { ensureBinary } from '../cluster/binaries/ensure-binary.ts'
import { silentProgress } from '../cluster/progress.ts'
import { readClusterSettings } from '../cluster/settings.ts'
import { answers } from './answers.ts'
import { storeFolders, storeProcesses, storeRegion } from './processes.ts'

export type TestStore = {
  readonly endpoint: URL
  readonly iamEndpoint: URL
  readonly region: string
  /** Of the administrator. */
  readonly key: { readonly accessKeyId: string; readonly secretAccessKey: SecretString }
  /** Ends S3 at once, as a crash does; IAM goes on. */
  readonly crash: () => Promise<void>
  /** After `crash`: resolves when it answers again at the same address. Idempotent. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

export type TestStoreOptions = { readonly keepsVersions?: boolean }

const maxOutput = 8_000

/** Resolves when both answer. `stop()` ends them and removes everything. */
export async function startVersitygw({ keepsVersions = true }: TestStoreOptions = {}): Promise<TestStore> {
  const settings = readClusterSettings()
  const program = (await ensureBinary(catalog.versitygw, { settings, progress: silentProgress })).path('versitygw')
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-store-'))
  for (const name of storeFolders) mkdirSync(join(folder, name))
  const key = { accessKeyId: 'administrator', secretAccessKey: randomBytes(24).toString('hex') }
  const ports = { s3: await reservePort(), iam: await reservePort() }
  const processes = storeProcesses({ folder, host: '127.0.0.1', ports, key, keepsVersions })
  const start = (name: 's3' | 'iam'): Promise<ChildProcess> => started(program, processes[name], ports[name])
  const iam = await start('iam')
  let s3 = await start('s3')
  return {
    endpoint: new URL(`http://127.0.0.1:${ports.s3}`),
    iamEndpoint: new URL(`http://127.0.0.1:${ports.iam}`),
    region: storeRegion,
    key: { ...key, secretAccessKey: new SecretString(key.secretAccessKey) },
    crash: () => end(s3, 'SIGKILL'),
    async restart() {
      if (hasEnded(s3)) s3 = await start('s3')
    },
    async stop() {
      await Promise.all([end(s3, 'SIGTERM'), end(iam, 'SIGTERM')])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Process = ReturnType<typeof storeProcesses>['s3']

async function started(program: string, { args, environment }: Process, port: number): Promise<ChildProcess> {
  const child = spawn(program, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-maxOutput)
    })
  child.once('error', error => {
    output += error.message
  })
  await waitUntil('an answer of versitygw', () => answers(new URL(`http://127.0.0.1:${port}`)), {
    hopeless: async () => (hasEnded(child) ? `it has ended:\n${output}` : undefined),
  })
  return child
}

function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (hasEnded(child)) return
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill(signal)
  await ended
}
