// The program of the database's owner: `node src/store/migrate-main.ts [--dry-run]` applies the migrations and gives the
// processes' roles their rights. Run it before the first start and before each new version; the processes wait for it. It is
// not a part of any process.
import { parseArgs } from 'node:util'
import { processEnvironment } from '../lib/config.ts'
import { AppError, messageOf } from '../lib/errors.ts'
import { createLog, redactTokens } from '../lib/log.ts'
import { applyAsOwner, plannedAsOwner, readOwnerSettings } from './access/owner.ts'
import { logUnencrypted } from './access/unencrypted-connection.ts'
import { connectServer } from './database/database.ts'

async function run(): Promise<void> {
  const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } })
  const { url, passwords } = readOwnerSettings(processEnvironment())
  const log = createLog({ level: 'error', name: 'sekisho-migrate' })
  logUnencrypted([{ variable: 'SEKISHO_DATABASE_OWNER_URL', url }], log)
  const database = connectServer(url, log, { patient: true })
  try {
    const planned = values['dry-run']
    const lines = planned ? await plannedAsOwner(database.pool, passwords) : await applyAsOwner(database.pool, passwords, log)
    const nothing = planned ? 'nothing to do' : 'nothing was to do'
    const heading = planned ? 'to do (nothing was changed):' : 'done:'
    process.stdout.write(lines.length === 0 ? `${nothing}\n` : `${[heading, ...lines.map(line => `  ${line}`)].join('\n')}\n`)
  } finally {
    await database.close()
  }
}

try {
  await run()
} catch (error) {
  const text = error instanceof AppError ? error.message : `SEKISHO_DATABASE_OWNER_URL: ${messageOf(error)}`
  process.stderr.write(`${redactTokens(text)}\n`)
  process.exitCode = 1
}
