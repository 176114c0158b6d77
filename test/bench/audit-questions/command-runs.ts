// Runs of the program `sekisho`, each a process of its own, as a person starts it: its output goes into a file, and it says
// what it used when it ends.
import { spawn } from 'node:child_process'
import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toolEnvironment } from '../../../dev/cluster/settings.ts'
import { AppError } from '../../../src/lib/errors.ts'

export type CommandUsage = { readonly peakRssBytes: number; readonly cpuSeconds: number; readonly wallSeconds: number }

export type CommandRuns = {
  /** Resolves when it ended with 0; rejects with the end of its error output otherwise. */
  readonly run: (args: readonly string[], output: string, signal: AbortSignal) => Promise<CommandUsage>
}

const program = join(import.meta.dirname, '..', '..', '..', 'src', 'cli', 'main.ts')
const reporter = join(import.meta.dirname, 'measured-process.ts')
const keptErrorOutput = 2000

/** Commands on a platform of which only this folder knows. */
export async function openCommandRuns(folder: string, platform: { issuer: string; authority: string }): Promise<CommandRuns> {
  await mkdir(folder, { recursive: true })
  const inFolder = (name: string): string => join(folder, name)
  const [caFile, tokenFile, usageFile] = [inFolder('ca.pem'), inFolder('token'), inFolder('usage.json')]
  await writeFile(caFile, platform.authority)
  await writeFile(tokenFile, 'a-token-of-the-platform-here', { mode: 0o600 })
  const variables = { HOME: folder, SEKISHO_ISSUER: platform.issuer, SEKISHO_CA_FILE: caFile, BENCH_USAGE_FILE: usageFile }
  return {
    async run(args, output, signal) {
      const file = await open(output, 'w')
      try {
        const started = performance.now()
        const all = ['--import', reporter, program, ...args]
        const given = args.includes('--export') ? [] : ['--token-file', tokenFile]
        await ended(
          spawn(process.execPath, [...all, ...given], {
            ...{ stdio: ['ignore', file.fd, 'pipe'], env: toolEnvironment(variables), signal },
          }),
          args.join(' '),
        )
        const wallSeconds = (performance.now() - started) / 1000
        return { ...(JSON.parse(await readFile(usageFile, 'utf8')) as Omit<CommandUsage, 'wallSeconds'>), wallSeconds }
      } finally {
        await file.close()
      }
    },
  }
}

function ended(child: ReturnType<typeof spawn>, what: string): Promise<void> {
  let errors = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString('utf8')).slice(-keptErrorOutput)
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => {
      if (code === 0) resolve()
      else reject(new AppError('upstream_failed', `sekisho ${what} ended with ${code}: ${errors.trim()}`))
    })
  })
}
