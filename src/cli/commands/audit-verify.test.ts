// `sekisho audit verify` against a platform whose log lost its end, was altered, or whose loss was acknowledged; each with its
// exit code.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { movableClock } from '../../../test/fixtures/databases.ts'
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { signAcknowledgement, signCheckpoint } from '../../identity/oidc/audit-checkpoint.ts'
import { type IssuerKeys, loadIssuerKeys } from '../../identity/oidc/issuer-keys.ts'
import { type ChainHead, emptyHead } from '../../lib/hash-chain/hash-chain.ts'
import { type AuditEntry, nextEntries } from '../../store/audit/audit-chain.ts'
import { exitCodeOf } from '../output.ts'
import { auditVerify } from './audit-verify.ts'
import type { CommandContext } from './context.ts'

const issuer = 'https://sekisho.test'
const clock = movableClock()
let keys: IssuerKeys
let folder: string
let log: AuditEntry[]
const printed: string[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sekisho-cli-'))
  keys = await loadIssuerKeys({ getOrCreate: (_name, make) => make() }, clock, () => {})
  log = []
  printed.length = 0
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const head = (): ChainHead => log.at(-1) ?? emptyHead
function append(count: number, change: Partial<AuditRecord> = {}): void {
  for (let index = 0; index < count; index += 1) {
    clock.advance(1)
    const record: AuditRecord = {
      action: 'token.minted',
      actor: 'a',
      object: 'o',
      outcome: 'allowed',
      reason: 'r',
      details: {},
      ...change,
    }
    log.push(...nextEntries(head(), [{ record, at: clock.now() }]))
  }
}
async function verify(): Promise<number> {
  const { sequence, hash } = head()
  const statement = await signCheckpoint(keys, issuer, { sequence, hash })
  const api = {
    json: async (path: string) => (path === '/oidc/jwks' ? { keys: [...keys.publicKeys.keys] } : { sequence, hash, statement }),
    lines: async (_path: string, query: URLSearchParams) =>
      log.filter(entry => entry.sequence > Number(query.get('after'))).slice(0, 7),
  }
  const context = {
    settings: { issuer, folders: { state: folder } },
    terminal: { result: (text: string) => void printed.push(text), say: () => {} },
    say: () => {},
    clock,
    api: async () => api,
  } as unknown as CommandContext
  return auditVerify(context, { output: 'table' }).then(
    () => 0,
    (error: Error) => {
      printed.push(error.message)
      return exitCodeOf(error)
    },
  )
}
/** Twenty entries, verified on this computer; then the last three are gone and others follow. */
async function lose(): Promise<void> {
  append(20)
  expect(await verify()).toBe(0)
  clock.advance(60)
  log.splice(17)
  append(5)
}
const acknowledgement = (signer: IssuerKeys) =>
  signAcknowledgement(signer, issuer, {
    remaining: { sequence: 17, hash: log[16]?.hash ?? '' },
    lost: { sequence: 20, hash: 'f'.repeat(64) },
    resumedAt: log[17]?.at ?? '',
    by: 'github|github.com|1',
  })
const record = (statement: string): void =>
  append(1, { action: 'audit.loss-acknowledged', details: { acknowledgement: statement.split('.') } })

test('missing entries end with code 5 and name what is missing, and again until somebody acknowledges it', async () => {
  await lose()
  expect([await verify(), await verify()]).toEqual([5, 5])
  expect(printed.at(-1)).toMatch(/^entries 18 to 20 are missing: lost in a crash or removed; the checkpoint of 2026-.* attests/)
  expect(printed.at(-1)).toContain('sekisho audit acknowledge')
})

test('also when nothing follows', async () => {
  append(20)
  await verify()
  log.splice(17)
  expect(await verify()).toBe(5)
})

test('an altered entry ends with code 4, whatever else is missing', async () => {
  await lose()
  const [third] = log.splice(2, 1)
  if (third) log.splice(2, 0, { ...third, reason: 'nothing to see' })
  expect(await verify()).toBe(4)
  expect(printed.at(-1)).toMatch(/^entry 3: its content was changed/)
})

test('an acknowledged loss verifies and is shown; from then on the new head counts', async () => {
  await lose()
  record(await acknowledgement(keys))
  expect(await verify()).toBe(0)
  expect(printed.at(-1)).toContain('entries 18 to 20 are missing: acknowledged by github|github.com|1')
  expect(await verify()).toBe(0)
  expect(printed.at(-1)).not.toContain('missing')
})

test('an acknowledgement that the platform did not sign counts for nothing', async () => {
  await lose()
  record(await acknowledgement(await loadIssuerKeys({ getOrCreate: (_name, make) => make() }, clock, () => {})))
  expect(await verify()).toBe(5)
})
