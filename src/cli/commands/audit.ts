// `sekisho audit list` and `audit verify`. verify downloads everything and checks the chain on this computer: it takes nobody's word but
// the signature of the issuer, and remembers the head so that a later cut or rewrite is found.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { verifyCheckpoint } from '../../identity/oidc/audit-checkpoint.ts'
import { AppError } from '../../lib/errors.ts'
import { type ChainHead, type ChainLink, createChainVerifier, emptyHead } from '../../lib/hash-chain.ts'
import { readJsonFile, writePrivateFile } from '../files/private-file.ts'
import { type OutputFormat, table } from '../output.ts'
import type { PlatformApi } from '../platform-api.ts'
import type { CommandContext } from './context.ts'

type Entry = ChainLink & Readonly<Record<string, unknown>>

export type AuditListOptions = {
  readonly namespace?: string
  readonly action?: string
  readonly actor?: string
  readonly limit: string
  readonly output: OutputFormat
}

const pageSize = 1000

function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false
  const { sequence, previousHash, hash } = value as Record<string, unknown>
  return Number.isSafeInteger(sequence) && typeof previousHash === 'string' && typeof hash === 'string'
}

function entriesOf(values: readonly unknown[]): readonly Entry[] {
  if (values.every(isEntry)) return values
  throw new AppError('integrity_violation', 'the platform sent something that is no audit entry')
}

function row(entry: Entry, wide: boolean): readonly string[] {
  const text = (field: string): string => String(entry[field] ?? '')
  const base = [
    String(entry.sequence),
    text('at'),
    text('actor'),
    text('action'),
    text('outcome'),
    text('object'),
    text('reason'),
  ]
  return wide ? [...base, JSON.stringify(entry['details'] ?? {}), entry.hash.slice(0, 12)] : base
}

/** Newest first; the filters are the server's. */
export async function auditList(context: CommandContext, options: AuditListOptions): Promise<void> {
  const query = new URLSearchParams({ limit: options.limit })
  for (const name of ['namespace', 'action', 'actor'] as const) {
    const value = options[name]
    if (value !== undefined) query.set(name, value)
  }
  const entries = entriesOf(await (await context.api()).lines('/api/v1/audit', query))
  if (options.output === 'json') return context.terminal.result(JSON.stringify(entries, null, 2))
  const wide = options.output === 'wide'
  const headers = ['SEQUENCE', 'AT', 'WHO', 'WHAT', 'OUTCOME', 'OBJECT', 'WHY', ...(wide ? ['DETAILS', 'HASH'] : [])]
  context.terminal.result(
    table(
      headers,
      entries.map(entry => row(entry, wide)),
    ),
  )
}

type SignedHead = ChainHead & { readonly statement: string }

function isHead(value: unknown): value is ChainHead {
  if (typeof value !== 'object' || value === null) return false
  const { sequence, hash } = value as Record<string, unknown>
  return Number.isSafeInteger(sequence) && typeof hash === 'string'
}

function isSignedHead(value: unknown): value is SignedHead {
  return isHead(value) && 'statement' in value && typeof value.statement === 'string'
}

async function signedHead(context: CommandContext, api: PlatformApi): Promise<ChainHead> {
  const head = await api.json('/api/v1/audit/head')
  if (!isSignedHead(head)) throw new AppError('integrity_violation', 'the platform sent no signed head')
  const keys = await (await (await context.connection()).fetch(new URL('/oidc/jwks', context.settings.issuer))).json()
  const stated = await verifyCheckpoint(head.statement, keys as Parameters<typeof verifyCheckpoint>[1], context.settings.issuer)
  if (stated.sequence !== head.sequence || stated.hash !== head.hash)
    throw new AppError('integrity_violation', 'the signed head is not the head that the platform names')
  return stated
}

/** Throws `integrity_violation` that names the first entry at fault. */
async function verifyFrom(api: PlatformApi, checkpoints: readonly ChainHead[], say: (text: string) => void): Promise<ChainHead> {
  const verifiers = checkpoints.map(checkpoint => createChainVerifier(checkpoint))
  let after = 0
  for (;;) {
    const query = new URLSearchParams({ after: String(after), limit: String(pageSize) })
    const entries = entriesOf(await api.lines('/api/v1/audit', query))
    for (const verifier of verifiers) verifier.add(entries)
    const last = entries.at(-1)
    if (last === undefined) break
    if (last.sequence <= after) throw new AppError('integrity_violation', `entry ${after + 1}: the platform repeats itself`)
    after = last.sequence
    say(`${after} entries read`)
  }
  let head = emptyHead
  for (const verifier of verifiers) {
    const verdict = verifier.verdict()
    if (!verdict.ok) throw new AppError('integrity_violation', `entry ${verdict.sequence}: ${verdict.problem}`)
    head = verdict.head
  }
  return head
}

export async function auditVerify(context: CommandContext, options: { readonly output: OutputFormat }): Promise<void> {
  const { settings, terminal, say } = context
  const memory = join(
    settings.folders.state,
    `audit-head-${createHash('sha256').update(settings.issuer).digest('hex').slice(0, 16)}.json`,
  )
  const api = await context.api()
  const remembered = await readJsonFile(memory, isHead)
  const stated = await signedHead(context, api)
  const head = await verifyFrom(api, remembered === undefined ? [stated] : [stated, remembered], say)
  await writePrivateFile(memory, `${JSON.stringify(head)}\n`)
  const seen = remembered === undefined ? 'first look at this log' : `entry ${remembered.sequence} is as it was before`
  if (options.output === 'json')
    terminal.result(JSON.stringify({ ok: true, entries: head.sequence, head, signed: true, remembered: remembered ?? null }))
  else terminal.result(`audit log holds: ${head.sequence} entries, head ${head.hash}, signed by ${settings.issuer}; ${seen}`)
}
