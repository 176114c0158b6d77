// `make bench`: runs the benches on the platform that runs, prints a table and writes JSON into the state folder. Bounded in number and time.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { messageOf } from '../../src/lib/errors.ts'
import { pushToUrl } from './push-to-url.ts'

const usage = 'usage: node test/bench/main.ts [push-to-url] [--pushes N]   (1 to 50, default 10)\n'

async function run(): Promise<number> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { pushes: { type: 'string', default: '10' } } })
  const pushes = Number(values.pushes)
  if ((positionals[0] ?? 'push-to-url') !== 'push-to-url' || !Number.isInteger(pushes) || pushes < 1 || pushes > 50) {
    process.stderr.write(usage)
    return 2
  }
  const result = await pushToUrl(pushes)
  for (const { phase, ours, p50, p95 } of result.rows)
    console.log(
      `${ours ? 'ours ' : 'other'}  ${phase.padEnd(40)} p50 ${p50.toFixed(3).padStart(8)} s   p95 ${p95.toFixed(3).padStart(8)} s`,
    )
  const folder = join(readClusterSettings().stateFolder, 'bench')
  await mkdir(folder, { recursive: true })
  await writeFile(
    join(folder, `${result.name}.json`),
    `${JSON.stringify({ ...result, date: new Date().toISOString() }, null, 2)}\n`,
  )
  return 0
}

try {
  process.exitCode = await run()
} catch (error) {
  console.error(`bench: ${messageOf(error)}`)
  process.exitCode = 1
}
