// `node test/rights/main.ts [--some] [<audit log>…]`: whether the suites used every verb that the platform's ServiceAccounts
// have, and no other. It reads what the suites of this checkout recorded at their last run, and audit logs of other API
// servers, such as the local cluster's. Exits with 1 when a verb was not used, or when a request had no right. After some
// suites only (`--some`) verbs that were not used are counted, and no failure.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { type Call, eachOnce, uncovered, unused } from './calls.ts'
import { callsInLogs, recordsFolder } from './record.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { some: { type: 'boolean', default: false } } })
const folder = recordsFolder(readClusterSettings())
const files = await readdir(folder).catch(() => [])
const recorded = await Promise.all(
  files.map(async file => JSON.parse(await readFile(join(folder, file), 'utf8')) as readonly Call[]),
)
const calls = eachOnce([...recorded.flat(), ...(await callsInLogs(positionals))])

const missing = uncovered(calls).map(call => `no right for it: ${JSON.stringify(call)}`)
const superfluous = unused(calls).map(text => `no suite used it: ${text}`)
for (const line of [...missing, ...(values.some ? [] : superfluous)]) console.error(line)
console.log(
  `${calls.length} different requests of ${files.length} suites: ${missing.length} without a right, ${superfluous.length} verbs unused`,
)
if (calls.length === 0 || missing.length > 0 || (superfluous.length > 0 && !values.some)) process.exit(1)
