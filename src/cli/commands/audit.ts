// `sekisho audit list` and `audit verify`. verify downloads everything and checks the chain on this computer: it takes nobody's word but
// the signature of the issuer, and remembers the head so that a later cut or rewrite is found.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type CheckpointKeys, verifyCheckpoint } from '../../identity/oidc/audit-checkpoint.ts'
import { AppError } from '../../lib/errors.ts'
import { type ChainHead, type ChainLink, createChainVerifier } from '../../lib/hash-chain.ts'
import { checkpointsIn } from '../files/checkpoint-file.ts'
import { readJsonFile, readTextFile, writePrivateFile } from '../files/private-file.ts'
import { json, type OutputFormat, type PlainFormat, table } from '../output.ts'
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
  if (options.output === 'json') return context.terminal.result(json(entries))
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

function isKeySet(value: unknown): value is CheckpointKeys {
  return typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys)
}

/** Throws what `api` throws when there is no answer: an outage must not look like a log that was altered. */
async function platformKeys(api: PlatformApi): Promise<CheckpointKeys> {
  const keys = await api.json('/oidc/jwks')
  if (isKeySet(keys)) return keys
  throw new AppError('upstream_failed', 'the platform sent no keys')
}

async function signedHead(api: PlatformApi, keys: CheckpointKeys, issuer: string): Promise<ChainHead> {
  const head = await api.json('/api/v1/audit/head')
  if (!isSignedHead(head)) throw new AppError('integrity_violation', 'the platform sent no signed head')
  const stated = await verifyCheckpoint(head.statement, keys, issuer)
  if (stated.sequence !== head.sequence || stated.hash !== head.hash)
    throw new AppError('integrity_violation', 'the signed head is not the head that the platform names')
  return stated
}

/** Throws `integrity_violation` that names the first entry at fault. */
async function verifyFrom(api: PlatformApi, checkpoints: readonly ChainHead[], say: (text: string) => void): Promise<ChainHead> {
  const verifier = createChainVerifier(...checkpoints)
  let after = 0
  for (;;) {
    const query = new URLSearchParams({ after: String(after), limit: String(pageSize) })
    const entries = entriesOf(await api.lines('/api/v1/audit', query))
    verifier.add(entries)
    const last = entries.at(-1)
    if (last === undefined) break
    if (last.sequence <= after) throw new AppError('integrity_violation', `entry ${after + 1}: the platform repeats itself`)
    after = last.sequence
    say(`${after} entries read`)
  }
  const verdict = verifier.verdict()
  if (!verdict.ok) throw new AppError('integrity_violation', `entry ${verdict.sequence}: ${verdict.problem}`)
  return verdict.head
}

export type AuditVerifyOptions = { readonly output: PlainFormat; readonly checkpoint?: string }

async function keptCheckpoints(file: string | undefined, keys: CheckpointKeys, issuer: string): Promise<readonly ChainHead[]> {
  if (file === undefined) return []
  const text = await readTextFile(file)
  if (text === undefined) throw new AppError('invalid_request', `--checkpoint: there is no file ${file}`)
  return checkpointsIn(text, keys, issuer)
}

export async function auditVerify(context: CommandContext, options: AuditVerifyOptions): Promise<void> {
  const { settings, terminal, say } = context
  const memory = join(
    settings.folders.state,
    `audit-head-${createHash('sha256').update(settings.issuer).digest('hex').slice(0, 16)}.json`,
  )
  const api = await context.api()
  const remembered = await readJsonFile(memory, isHead)
  const keys = await platformKeys(api)
  const stated = await signedHead(api, keys, settings.issuer)
  const kept = await keptCheckpoints(options.checkpoint, keys, settings.issuer)
  const head = await verifyFrom(api, [stated, ...(remembered === undefined ? [] : [remembered]), ...kept], say)
  await writePrivateFile(memory, `${JSON.stringify(head)}\n`)
  const seen = remembered === undefined ? 'first look at this log' : `entry ${remembered.sequence} is as it was before`
  if (options.output === 'json')
    terminal.result(
      json({
        ok: true,
        entries: head.sequence,
        head,
        signed: true,
        remembered: remembered ?? null,
        checkpoints: kept.length,
      }),
    )
  else
    terminal.result(
      `audit log holds: ${head.sequence} entries, head ${head.hash}, signed by ${settings.issuer}; ${seen}${kept.length === 0 ? '' : `; it agrees with ${kept.length} checkpoints kept outside`}`,
    )
}
