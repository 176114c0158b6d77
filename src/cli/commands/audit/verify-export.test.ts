// An export verifies on a computer that never saw the platform, and no change to it does: every kind of mutation of every line.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { movableClock } from '../../../../test/fixtures/databases.ts'
import type { AuditRecord } from '../../../api/audit/audit-event.ts'
import { signCheckpoint, signCut } from '../../../identity/oidc/audit-checkpoint.ts'
import { type IssuerKeys, loadIssuerKeys } from '../../../identity/oidc/issuer-keys.ts'
import { type ChainHead, emptyHead } from '../../../lib/hash-chain/hash-chain.ts'
import { type AuditEntry, nextEntries } from '../../../store/audit/audit-chain.ts'
import { exitCodeOf } from '../../output.ts'
import type { CommandContext } from '../context.ts'
import { auditExport } from './export.ts'
import { verifyExport } from './verify-export.ts'

const issuer = 'https://sekisho.test'
const clock = movableClock()
const makeKeys = () => loadIssuerKeys({ getOrCreate: (_name, make) => make() }, clock, () => {})
const length = 24
let keys: IssuerKeys
let foreign: IssuerKeys
let folder: string
let log: AuditEntry[]
/** Signed when the log had 10 entries. */
let early: string
let file: string

const record = (reason: string, change: Partial<AuditRecord> = {}): AuditRecord => ({
  action: 'token.minted',
  actor: 'github|github.com|7',
  object: 'RepositoryGrant/acme/read-shop',
  outcome: 'allowed',
  reason,
  details: { repositoryIds: [1, 2] },
  ...change,
})
function append(reason: string, change: Partial<AuditRecord> = {}): void {
  clock.advance(60)
  log.push(...nextEntries(log.at(-1) ?? emptyHead, [{ record: record(reason, change), at: clock.now() }]))
}
const headAt = (sequence: number): ChainHead => ({ sequence, hash: log.find(entry => entry.sequence === sequence)?.hash ?? '' })

beforeAll(async () => {
  keys = await makeKeys()
  foreign = await makeKeys()
  folder = mkdtempSync(join(tmpdir(), 'sekisho-export-'))
  file = join(folder, 'audit.jsonl')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))
beforeEach(async () => {
  log = []
  for (let count = 1; count <= 10; count += 1) append(`entry ${count}`)
  early = await signCheckpoint(keys, issuer, headAt(10))
  for (let count = 11; count <= length; count += 1) append(`entry ${count}`)
})

async function exported(options: { readonly since?: string; readonly until?: string } = {}): Promise<readonly string[]> {
  const head = headAt(log.at(-1)?.sequence ?? 0)
  const statement = await signCheckpoint(keys, issuer, head)
  const lines: string[] = []
  const api = {
    json: async (path: string) =>
      path.endsWith('head')
        ? { ...head, statement }
        : { keys: [...keys.publicKeys.keys], statements: [early], acknowledgements: [] },
    lines: async (_path: string, query: URLSearchParams) =>
      log.filter(({ at, action }) => at >= (query.get('since') ?? '') && (query.get('action') ?? action) === action),
    async *follow(_path: string, query: URLSearchParams) {
      yield* log.filter(({ sequence }) => sequence > Number(query.get('after')))
      yield { readThrough: head.sequence, end: true }
    },
  }
  const terminal = { result: (text: string) => void lines.push(text), say: () => {} }
  await auditExport(
    { settings: { issuer }, terminal, say: () => {}, clock, api: async () => api } as unknown as CommandContext,
    options,
  )
  return lines
}

type Outcome = { readonly code: number; readonly said: string }
async function verify(lines: readonly string[], trusted: IssuerKeys | null = keys): Promise<Outcome> {
  writeFileSync(file, lines.map(line => `${line}\n`).join(''))
  const keyFile = join(folder, 'jwks.json')
  if (trusted !== null) writeFileSync(keyFile, JSON.stringify(trusted.publicKeys))
  const printed: string[] = []
  const terminal = { result: (text: string) => void printed.push(text), say: () => {} }
  const options = { export: file, output: 'table' as const, ...(trusted === null ? {} : { keys: keyFile }) }
  return verifyExport(terminal, options).then(
    () => ({ code: 0, said: printed.join('') }),
    (error: Error) => ({ code: exitCodeOf(error), said: error.message }),
  )
}

test('it verifies with the keys that the user trusts, and with its own it says whose they claim to be', async () => {
  const lines = await exported()
  expect(await verify(lines)).toMatchObject({ code: 0, said: expect.stringContaining('24 entries') })
  const own = await verify(lines, null)
  expect(own).toMatchObject({ code: 0, said: expect.stringContaining('whoever made the file may have made them') })
  expect((await verify(lines, foreign)).code).toBe(4)
})

test('a period ends at the next signed checkpoint and begins anywhere', async () => {
  const until = await exported({ until: log[4]?.at ?? '' })
  expect(await verify(until)).toMatchObject({ code: 0, said: expect.stringContaining('10 entries') })
  const since = await exported({ since: log[14]?.at ?? '' })
  expect(await verify(since)).toMatchObject({ code: 0, said: expect.stringContaining('begins after entry 14') })
})

test('a log that was cut verifies by its signed cut, and by nothing else', async () => {
  const cut = { ...headAt(6), by: 'github|github.com|1' }
  const approve = async (signer: IssuerKeys) =>
    append('retention', {
      action: 'audit.prune-approved',
      details: { cut: { ...headAt(6) }, cutStatement: (await signCut(signer, issuer, cut)).split('.') },
    })
  await approve(keys)
  log.splice(0, 6)
  const lines = await exported()
  expect(await verify(lines)).toMatchObject({ code: 0, said: expect.stringContaining('entries up to 6 were pruned') })
  expect((await verify(lines.filter(line => !line.startsWith('{"cut"')))).said).toContain('no cut that')
  const other = await signCut(foreign, issuer, cut)
  expect((await verify(lines.map(line => (line.startsWith('{"cut"') ? JSON.stringify({ cut: other }) : line)))).code).toBe(4)
})

describe('what was changed in the file is found', () => {
  const isEntryLine = (line: string): boolean => line.startsWith('{"action"') || line.includes('"previousHash"')
  /** Each changes the lines; none of the results may verify. */
  const mutations: readonly ((lines: string[], at: number, salt: number) => readonly string[])[] = [
    (lines, at) => lines.filter((_, index) => index !== at),
    (lines, at) => lines.flatMap((line, index) => (index === at ? [line, line] : [line])),
    (lines, at) =>
      lines.map((line, index) => (index === at ? (lines[at + 1] ?? '{"x":1}') : index === at + 1 ? (lines[at] ?? '') : line)),
    (lines, at) => lines.slice(0, at),
    (lines, at, salt) =>
      lines.map((line, index) => {
        if (index !== at) return line
        const entry = JSON.parse(line)
        const fields = ['at', 'actor', 'object', 'reason', 'hash', 'previousHash']
        const field = fields[salt % fields.length] ?? 'reason'
        return JSON.stringify({ ...entry, [field]: `${entry[field]}x` })
      }),
    (lines, at, salt) =>
      lines.map((line, index) => (index === at ? JSON.stringify({ ...JSON.parse(line), details: { salt } }) : line)),
    // As somebody would who computes the chain anew: what the platform signed does not fit any more.
    (lines, at) => {
      const entries = lines.flatMap(line => (isEntryLine(line) ? [JSON.parse(line) as AuditEntry] : []))
      const from = Math.min(at, entries.length - 1)
      const head = from === 0 ? emptyHead : (entries[from - 1] ?? emptyHead)
      const forged = nextEntries(
        head,
        entries.slice(from).map(entry => ({ record: record(`forged ${entry.sequence}`), at: new Date(entry.at) })),
      )
      const all = [...entries.slice(0, from), ...forged].map(entry => JSON.stringify(entry))
      return lines.map(line => (isEntryLine(line) ? (all.shift() ?? line) : line))
    },
  ]

  test('random mutations, each of them', async () => {
    const lines = await exported()
    const first = lines.findIndex(isEntryLine)
    await fc.assert(
      fc.asyncProperty(fc.nat(mutations.length - 1), fc.nat(length - 1), fc.nat(1000), async (kind, at, salt) => {
        const changed = mutations[kind]?.([...lines], kind === 6 ? at : first + at, salt) ?? []
        const { code } = await verify(changed)
        expect([4, 5]).toContain(code)
      }),
      { numRuns: 300 },
    )
    expect(await verify(lines)).toMatchObject({ code: 0 })
  }, 240_000)

  test('a file that is no export, or is cut off in its last line, says so', async () => {
    const lines = await exported()
    expect((await verify(lines.slice(0, -1))).code).toBe(5)
    for (const other of [['hello'], ['{"a":1}'], []]) expect((await verify(other)).code).toBe(2)
  })
})
