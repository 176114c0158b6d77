import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createMemoryKube } from '../../../../test/faults/fixtures/memory-kube.ts'
import { movableClock, openTestStore } from '../../../../test/fixtures/databases.ts'
import { verifyCheckpoint } from '../../../identity/oidc/audit-checkpoint.ts'
import { loadIssuerKeys } from '../../../identity/oidc/issuer-keys.ts'
import { keptStatements } from '../../../identity/oidc/kept-statements.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import { createCheckpointExport } from '../checkpoint-export.ts'
import { createCheckpointFolder } from './checkpoint-folder.ts'

const issuer = 'https://sekisho.test'
const record = { action: 'token.minted', actor: 'a', object: 'o', outcome: 'allowed', reason: 'r', details: {} } as const

test('every checkpoint is a line of its day, with its key; a folder that cannot be written is an error of the log alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-checkpoints-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const clock = movableClock()
  const { audit, close } = await openTestStore({ dataFolder: 'memory://' }, clock)
  onTestFinished(close)
  const keys = await loadIssuerKeys({ getOrCreate: (_name, make) => make() }, clock, () => {})
  const errors: string[] = []
  const log = { ...silentLog, error: (_fields: object, message: string) => void errors.push(message) }
  const exporting = (keep: ReturnType<typeof createCheckpointFolder>) =>
    createCheckpointExport({
      ...{ kube: createMemoryKube().client, audit, keys, issuer, clock, log, keep },
      everyMilliseconds: 60_000,
      isLeader: () => true,
    })
  const keeping = exporting(createCheckpointFolder(join(folder, 'kept')))
  for (let count = 0; count < 2; count += 1) {
    await audit.append(record)
    expect(await keeping.once()).toBe('written')
  }
  const text = readFileSync(join(folder, 'kept', 'checkpoints-2026-01-01.jsonl'), 'utf8')
  const { statements, kept } = keptStatements(text)
  const heads = await Promise.all(statements.map(one => verifyCheckpoint(one, kept[0] ?? { keys: [] }, issuer)))
  expect(heads.map(({ sequence }) => sequence)).toEqual([1, 2])

  writeFileSync(join(folder, 'file'), '')
  expect(await exporting(createCheckpointFolder(join(folder, 'file'))).once()).toBe('written')
  expect(errors).toEqual(['failed to keep an audit checkpoint in SEKISHO_AUDIT_CHECKPOINT_FOLDER'])
})
