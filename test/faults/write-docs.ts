// Writes docs/reference/faults.md from the outcomes that the fault tests of this checkout recorded, or from those in the given
// folders: `node test/faults/write-docs.ts [folder …]`. Measures nothing itself and fails when there are no outcomes.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { machineClass } from '../bench/harness/machine.ts'
import { faultPage } from './fault-page.ts'
import { outcomesFolder, type RecordedOutcome } from './outcome.ts'

const page = fileURLToPath(new URL('../../docs/reference/faults.md', import.meta.url))

const named = process.argv.slice(2)
const folders = named.length === 0 ? [outcomesFolder()] : named
const files = await Promise.all(
  folders.map(async folder => (await readdir(folder)).filter(name => name.endsWith('.json')).map(name => join(folder, name))),
)
const read = async (file: string): Promise<RecordedOutcome> => JSON.parse(await readFile(file, 'utf8')) as RecordedOutcome
const all = await Promise.all(files.flat().map(read))
if (all.length === 0)
  throw new Error(`there are no outcomes in ${folders.join(', ')}: run npx vitest run --project faults --project programs first`)
const keyOf = (outcome: RecordedOutcome): string => `${outcome.fault} ${outcome.case} ${outcome.measure}`
// If an outcome was recorded in several folders, the latest one is used.
const outcomes = [...Map.groupBy(all, keyOf).values()].flatMap(same =>
  same.toSorted((a, b) => Date.parse(b.date) - Date.parse(a.date)).slice(0, 1),
)
await mkdir(dirname(page), { recursive: true })
await writeFile(page, faultPage(outcomes, await machineClass()))
process.stdout.write(`${outcomes.length} outcomes in docs/reference/faults.md\n`)
