// `sekisho audit verify` against a platform whose log lost its end, was altered, or whose loss was acknowledged; each with its
// exit code.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { movableClock } from '../../../../test/fixtures/databases.ts'
import type { AuditRecord } from '../../../api/audit/audit-event.ts'
import { signAcknowledgement, signCheckpoint, signCut } from '../../../identity/oidc/audit-checkpoint.ts'
import { type IssuerKeys, loadIssuerKeys } from '../../../identity/oidc/issuer-keys.ts'
import { type ChainHead, emptyHead } from '../../../lib/hash-chain/hash-chain.ts'
import { type AuditEntry, nextEntries } from '../../../store/audit/audit-chain.ts'
import { exitCodeOf } from '../../output.ts'
import type { CommandContext } from '../context.ts'
import { type AuditVerifyOptions, auditVerify } from './verify.ts'

const issuer = 'https://sekisho.test'
const clock = movableClock()
let keys: IssuerKeys
let folder: string
let log: AuditEntry[]
const printed: string[] = []
/** The sequences that were read from the stream. */
const read: number[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sekisho-cli-'))
  keys = await loadIssuerKeys({ getOrCreate: (_name, make) => make() }, clock, () => {})
  log = []
  printed.length = 0
  read.length = 0
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function alter(sequence: number): void {
  log = log.map(entry => (entry.sequence === sequence ? { ...entry, reason: 'nothing to see' } : entry))
}
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
async function verify(options: Partial<AuditVerifyOptions> = {}): Promise<number> {
  const { sequence, hash } = head()
  const statement = await signCheckpoint(keys, issuer, { sequence, hash })
  const api = {
    json: async (path: string) =>
      path === '/oidc/jwks' || path.endsWith('checkpoints') ? { keys: [...keys.publicKeys.keys] } : { sequence, hash, statement },
    lines: async (_path: string, query: URLSearchParams) =>
      log
        .filter(entry => entry.sequence > Number(query.get('after')) && (query.get('action') ?? entry.action) === entry.action)
        .slice(0, Number(query.get('limit'))),
    async *follow(_path: string, query: URLSearchParams) {
      const rest = log.filter(entry => entry.sequence > Number(query.get('after')))
      read.push(...rest.map(entry => entry.sequence))
      yield rest
      yield [{ readThrough: rest.at(-1)?.sequence ?? Number(query.get('after')), end: true }]
    },
  }
  const context = {
    settings: { issuer, folders: { state: folder } },
    terminal: { result: (text: string) => void printed.push(text), say: () => {} },
    say: () => {},
    clock,
    api: async () => api,
  } as unknown as CommandContext
  return auditVerify(context, { output: 'table', ...options }).then(
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

describe('from the head that was verified last', () => {
  test('it goes on, and says what it did not read again', async () => {
    append(20)
    await verify()
    append(5)
    read.length = 0
    expect(await verify()).toBe(0)
    expect(read).toEqual([21, 22, 23, 24, 25])
    expect(printed.at(-1)).toMatch(/entries up to 20 were read on 2026-01-01 and are not read again; --all reads everything/)
  })

  test('after a week, or with --all, an old entry that was altered is found', async () => {
    append(20)
    await verify()
    alter(3)
    expect(await verify()).toBe(0)
    expect(await verify({ all: true })).toBe(4)
    clock.advance(8 * 86_400)
    expect(await verify()).toBe(4)
    expect(printed.at(-1)).toMatch(/^entry 3: its content was changed/)
  })

  test('an entry that was verified last and is another one now makes it read everything', async () => {
    append(20)
    await verify()
    alter(20)
    append(1)
    expect(await verify()).toBe(4)
    expect(read.filter(sequence => sequence === 1)).toHaveLength(2)
  })
})

describe('a log whose beginning was removed', () => {
  const cutAt = (sequence: number): ChainHead => ({ sequence, hash: log.find(entry => entry.sequence === sequence)?.hash ?? '' })
  async function approve(sequence: number, signer = keys): Promise<void> {
    const cutStatement = await signCut(signer, issuer, { ...cutAt(sequence), by: 'github|github.com|1' })
    append(1, { action: 'audit.prune-approved', details: { cut: { ...cutAt(sequence) }, cutStatement: cutStatement.split('.') } })
  }

  test('verifies with the cut that the platform signed, and says who approved it', async () => {
    append(20)
    await verify()
    await approve(8)
    log.splice(0, 8)
    expect(await verify()).toBe(0)
    expect(await verify({ all: true })).toBe(0)
    expect(printed.at(-1)).toContain('entries up to 8 were pruned: github|github.com|1 approved it')
    expect(printed.at(-1)).toContain('audit log verified: 13 entries')
  })

  test.each([
    ['without a cut', 8, undefined, 8],
    ['one entry later than the cut', 8, 'own', 9],
    ['one entry earlier than the cut', 8, 'own', 7],
    ['with a cut that somebody else signed', 8, 'foreign', 8],
  ])('does not verify %s, also where reading would go on later', async (_name, approved, signer, removed) => {
    append(20)
    await verify()
    const foreign = await loadIssuerKeys({ getOrCreate: (_key, make) => make() }, clock, () => {})
    if (signer !== undefined) await approve(approved, signer === 'own' ? keys : foreign)
    log.splice(0, removed)
    expect(await verify()).toBe(4)
    expect(printed.at(-1)).toContain(`the log begins after entry ${removed}, and no cut`)
  })

  test('what this computer verified before the cut does not contradict it, and at the cut it must agree', async () => {
    append(5)
    await verify()
    append(3)
    await approve(5)
    log.splice(0, 5)
    expect(await verify()).toBe(0)
    await approve(7)
    log.splice(0, 2)
    expect(await verify({ all: true })).toBe(0)
  })

  test('an entry after the cut that was altered is found', async () => {
    append(20)
    await approve(8)
    log.splice(0, 8)
    alter(12)
    expect(await verify()).toBe(4)
    expect(printed.at(-1)).toMatch(/^entry 12: its content was changed/)
  })
})
