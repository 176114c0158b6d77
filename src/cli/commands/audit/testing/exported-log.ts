// For tests: an installation whose log is in memory, what `sekisho audit export` prints of it, and what `sekisho audit verify
// --export` says of such lines.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AuditRecord } from '../../../../api/audit/audit-event.ts'
import { signCheckpoint, signCut } from '../../../../identity/oidc/audit-checkpoint.ts'
import { type IssuerKeys, loadIssuerKeys } from '../../../../identity/oidc/issuer-keys.ts'
import { type ChainHead, emptyHead } from '../../../../lib/hash-chain/hash-chain.ts'
import { createFakeClock } from '../../../../lib/testing/fake-clock.ts'
import { type AuditEntry, nextEntries } from '../../../../store/audit/audit-chain.ts'
import { exitCodeOf } from '../../../output.ts'
import type { CommandContext } from '../../context.ts'
import { auditExport } from '../export.ts'
import { verifyExport } from '../verify-export.ts'

const issuer = 'https://sekisho.test'

export type ExportPeriod = { readonly since?: string; readonly until?: string }

export type Installation = {
  readonly keys: IssuerKeys
  /** Tests may change it. */
  readonly log: AuditEntry[]
  readonly append: (reason: string, change?: Partial<AuditRecord>) => void
  readonly headAt: (sequence: number) => ChainHead
  /** Keeps a checkpoint of the entry. */
  readonly checkpoint: (sequence: number) => Promise<void>
  /** Removes the entries up to this one, as an entry approves that. */
  readonly prune: (sequence: number) => Promise<void>
  readonly exported: (period?: ExportPeriod) => Promise<readonly string[]>
}

/** A log of `length` entries; the one in the middle has a kept checkpoint. */
export async function createInstallation(length: number, name = 'entry'): Promise<Installation> {
  const clock = createFakeClock()
  const keys = await loadIssuerKeys({ getOrCreate: (_name, make) => make() }, clock, () => {})
  const log: AuditEntry[] = []
  const statements: string[] = []
  const headAt = (sequence: number): ChainHead => ({
    sequence,
    hash: log.find(entry => entry.sequence === sequence)?.hash ?? '',
  })
  const append: Installation['append'] = (reason, change) => {
    clock.step(60_000)
    log.push(...nextEntries(log.at(-1) ?? emptyHead, [{ record: tokenRecord(reason, change), at: clock.now() }]))
  }
  const checkpoint = async (sequence: number): Promise<void> =>
    void statements.push(await signCheckpoint(keys, issuer, headAt(sequence)))
  for (let count = 1; count <= length; count += 1) append(`${name} ${count}`)
  await checkpoint(Math.floor(length / 2))
  return {
    keys,
    log,
    append,
    headAt,
    checkpoint,
    async prune(sequence) {
      const cut = headAt(sequence)
      const statement = await signCut(keys, issuer, { ...cut, by: 'github|github.com|1' })
      append('retention', {
        action: 'audit.prune-approved',
        details: { cut: { ...cut }, cutStatement: statement.split('.') },
      })
      log.splice(0, log.findIndex(entry => entry.sequence === sequence) + 1)
    },
    async exported(period = {}) {
      const lines: string[] = []
      const head = headAt(log.at(-1)?.sequence ?? 0)
      const api = platformOf({ log, keys, statements, head, statement: await signCheckpoint(keys, issuer, head) })
      const terminal = { result: (text: string) => void lines.push(...text.split('\n')), say: () => {} }
      const context = { settings: { issuer }, terminal, say: () => {}, clock, api: async () => api }
      await auditExport(context as unknown as CommandContext, period)
      return lines
    },
  }
}

export function tokenRecord(reason: string, change: Partial<AuditRecord> = {}): AuditRecord {
  return {
    action: 'token.minted',
    actor: 'github|github.com|7',
    namespace: 'acme',
    object: 'RepositoryGrant/acme/read-shop',
    outcome: 'allowed',
    reason,
    details: { repositoryIds: [1, 2], permissions: { contents: 'read' }, count: 3, attested: true, host: 'github.com' },
    ...change,
  }
}

export const signed = {
  checkpoint: (keys: IssuerKeys, head: ChainHead, of = issuer) => signCheckpoint(keys, of, head),
  cut: (keys: IssuerKeys, head: ChainHead) => signCut(keys, issuer, { ...head, by: 'github|github.com|1' }),
}

type Platform = {
  readonly log: readonly AuditEntry[]
  readonly keys: IssuerKeys
  readonly statements: readonly string[]
  readonly head: ChainHead
  readonly statement: string
}

/** What the command asks of a platform. */
function platformOf({ log, keys, statements, head, statement }: Platform) {
  return {
    json: async (path: string) =>
      path.endsWith('head')
        ? { ...head, statement }
        : { keys: [...keys.publicKeys.keys], statements: [...statements], acknowledgements: [] },
    lines: async (_path: string, query: URLSearchParams) =>
      log.filter(({ at, action }) => at >= (query.get('since') ?? '') && (query.get('action') ?? action) === action),
    async *follow(_path: string, query: URLSearchParams) {
      yield log.filter(({ sequence }) => sequence > Number(query.get('after')))
      yield [{ readThrough: head.sequence, end: true }]
    },
  }
}

export type Verdict = { readonly code: number; readonly said: string }

export type ExportVerifier = {
  /** Exit code and text, with the keys that the user trusts, or with those of the export. */
  readonly verify: (lines: readonly string[], trusted: IssuerKeys | undefined) => Promise<Verdict>
  readonly close: () => void
}

/** Verifies as a computer that never saw the platform: from a file. */
export function openExportVerifier(): ExportVerifier {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-export-'))
  const [file, keyFile] = [join(folder, 'audit.jsonl'), join(folder, 'jwks.json')]
  return {
    async verify(lines, trusted) {
      writeFileSync(file, lines.map(line => `${line}\n`).join(''))
      if (trusted !== undefined) writeFileSync(keyFile, JSON.stringify(trusted.publicKeys))
      const printed: string[] = []
      const terminal = { result: (text: string) => void printed.push(text), say: () => {} }
      const options = { export: file, output: 'table' as const, ...(trusted === undefined ? {} : { keys: keyFile }) }
      return verifyExport(terminal, options).then(
        () => ({ code: 0, said: printed.join('') }),
        (error: Error) => ({ code: exitCodeOf(error), said: error.message }),
      )
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}
