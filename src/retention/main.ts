// The program that cuts the audit log: `node src/retention/main.ts --checkpoints <file or folder> [--confirm]`. Without --confirm
// it verifies, says what it would remove, and removes nothing. It has a role of its own in the database, and is not a part of any
// process. See docs/guide/audit.md.
import { parseArgs } from 'node:util'
import { systemClock } from '../lib/clock.ts'
import { processEnvironment } from '../lib/config.ts'
import { AppError, messageOf } from '../lib/errors.ts'
import { createLog, redactTokens } from '../lib/log.ts'
import { requirePruneRole } from '../store/access/prune-role.ts'
import { connectServer, type Database, openEmbedded } from '../store/database/database.ts'
import { readRetentionSettings } from './config.ts'
import { makeCut, plannedCut } from './cut-log.ts'
import { readKeptFiles } from './kept-files.ts'

async function run(): Promise<void> {
  const { values } = parseArgs({ options: { checkpoints: { type: 'string' }, confirm: { type: 'boolean', default: false } } })
  const { checkpoints, confirm } = values
  if (checkpoints === undefined)
    throw new AppError(
      'invalid_request',
      '--checkpoints is missing: the ConfigMap sekisho-audit-checkpoints, as a file or a folder',
    )
  const settings = readRetentionSettings(processEnvironment())
  const kept = await readKeptFiles(checkpoints)
  const database = await opened(settings)
  try {
    const deps = { pool: database.pool, clock: systemClock, issuer: settings.publicUrl.origin, kept }
    const plan = await plannedCut(deps)
    if (plan === undefined)
      return say(
        'nothing to remove: every approved cut was made, or the keys of --checkpoints did not sign it (is it the newest?)',
      )
    const { first, cut, through, entries } = plan
    const what = `${entries} entries, ${first} to ${cut.sequence} (the last of ${through}), as ${cut.by} approved in entry ${plan.approval}`
    say(`${what}; they verify, and agree with ${plan.checkpoints} checkpoints`)
    if (!confirm) return say('nothing was removed: say --confirm')
    say(`removed ${await makeCut(deps, plan)} entries; the log begins after entry ${cut.sequence}`)
  } finally {
    await database.close()
  }
}

async function opened({ url, dataFolder }: ReturnType<typeof readRetentionSettings>): Promise<Database> {
  const log = createLog({ level: 'error', name: 'sekisho-retention' })
  if (url === undefined) return openEmbedded(`${dataFolder}/database`, log)
  const database = connectServer(url, log, { patient: true })
  try {
    await requirePruneRole(database.pool)
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

try {
  await run()
} catch (error) {
  const text = error instanceof AppError ? error.message : `SEKISHO_PRUNE_DATABASE_URL: ${messageOf(error)}`
  process.stderr.write(`${redactTokens(text)}\n`)
  process.exitCode = 1
}
