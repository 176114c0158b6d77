// `make check`: every check that needs neither a cluster nor a database. They run concurrently; each prints one line, and its
// output if it fails.
import { spawn } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const checks = ['check:format', 'check:types', 'check:arrows', 'check:unused', 'check:size', 'check:waits', 'check:generated']

type Result = { readonly name: string; readonly code: number; readonly seconds: number; readonly output: string }

function run(name: string): Promise<Result> {
  return new Promise(resolve => {
    const started = performance.now()
    const child = spawn('npm', ['run', '--silent', name], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.on('close', code =>
      resolve({ name, code: code ?? 1, seconds: (performance.now() - started) / 1000, output: Buffer.concat(chunks).toString() }),
    )
  })
}

const results = await Promise.all(checks.map(run))
for (const result of results) {
  console.log(`${result.code === 0 ? 'ok    ' : 'FAILED'} ${result.name.padEnd(16)} ${result.seconds.toFixed(1)} s`)
  if (result.code !== 0) console.log(result.output)
}
if (results.some(result => result.code !== 0)) process.exit(1)
