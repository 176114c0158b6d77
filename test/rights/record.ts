// Keeps what a suite's processes asked of its API server, before that server and its audit log are deleted.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClusterSettings } from '../../dev/cluster/settings.ts'
import { type Call, callsIn, eachOnce, uncovered } from './calls.ts'

/** Set by `make test` when it repeats one file of a suite. */
const isSecondPass = process.env['SEKISHO_TEST_AGAIN'] === '1'

/** One file for each suite, of its last run. */
export function recordsFolder({ stateFolder }: Pick<ClusterSettings, 'stateFolder'>): string {
  return join(stateFolder, 'rights')
}

/**
 * Reads the audit logs in `logs`, rotated ones included, and writes the calls of the platform's ServiceAccounts, those since
 * `since` only. Those of a second pass are added to those of the first, which were of all files.
 * @throws when one of them had no right: that request can never succeed, also where nothing waited for it
 */
export async function recordCalls(
  logs: string,
  suite: string,
  settings: Pick<ClusterSettings, 'stateFolder'>,
  since?: Date,
): Promise<void> {
  const names = (await readdir(logs)).filter(name => name.startsWith('audit'))
  const calls = await callsInLogs(
    names.map(name => join(logs, name)),
    since,
  )
  const folder = recordsFolder(settings)
  const path = join(folder, `${suite}.json`)
  await mkdir(folder, { recursive: true })
  const before: readonly Call[] = isSecondPass ? JSON.parse(await readFile(path, 'utf8')) : []
  await writeFile(path, JSON.stringify(eachOnce([...before, ...calls])))
  const missing: readonly Call[] = uncovered(calls)
  if (missing.length > 0)
    throw new Error(
      `requests of the platform without a right in src/api/rights:\n${missing.map(call => JSON.stringify(call)).join('\n')}`,
    )
}

/** One file after the other: together they may not fit into memory. */
export async function callsInLogs(paths: readonly string[], since?: Date): Promise<readonly Call[]> {
  const isOlder = (line: string): boolean => {
    const received = /"requestReceivedTimestamp":"([^"]+)"/.exec(line)?.[1]
    return since !== undefined && received !== undefined && Date.parse(received) < since.getTime()
  }
  let calls: readonly Call[] = []
  for (const path of paths)
    calls = eachOnce([...calls, ...callsIn((await readFile(path, 'utf8')).split('\n').filter(line => !isOlder(line)))])
  return calls
}
