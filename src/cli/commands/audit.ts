// `sekisho audit list` and `sekisho audit verify`. `verify` downloads the whole log and checks the hash chain on this computer. It trusts only
// the issuer's signature, and saves the head so that the next run finds a truncated or rewritten log.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type CheckpointKeys, verifyCheckpoint } from '../../identity/oidc/audit-checkpoint.ts'
import { AppError } from '../../lib/errors.ts'
import { type ChainHead, type ChainLink, createChainVerifier } from '../../lib/hash-chain.ts'
import { asObject, integerAt, isJsonObject, textAt } from '../../lib/json/json-value.ts'
import { checkpointsIn } from '../files/checkpoint-file.ts'
import { readJsonFile, readTextFile, writePrivateFile } from '../files/private-file.ts'
import { json, type OutputFormat, type PlainFormat, table } from '../output.ts'
import type { PlatformApi } from '../platform-api.ts'
import type { CommandContext } from './context.ts'

type Entry = ChainLink & Readonly<Record<string, unknown>>

type AuditListOptions = {
  readonly namespace?: string
  readonly action?: string
  readonly actor?: string
  readonly limit: string
  readonly output: OutputFormat
}

const pageSize = 1000

function isEntry(value: unknown): value is Entry {
  return isHead(value) && textAt(asObject(value), 'previousHash') !== undefined
}

function entriesOf(values: readonly unknown[]): readonly Entry[] {
  if (values.every(isEntry)) return values
  throw new AppError('integrity_violation', 'the platform sent data that is not an audit entry')
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

/** Prints entries, newest first; the server applies the filters. */
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
  return isJsonObject(value) && integerAt(value, 'sequence') !== undefined && textAt(value, 'hash') !== undefined
}

function isSignedHead(value: unknown): value is SignedHead {
  return isHead(value) && textAt(asObject(value), 'statement') !== undefined
}

function isKeySet(value: unknown): value is CheckpointKeys {
  return isJsonObject(value) && Array.isArray(value['keys'])
}

/** Rejects as `api` does without a response: an outage must not look like a changed log. */
async function platformKeys(api: PlatformApi): Promise<CheckpointKeys> {
  const keys = await api.json('/oidc/jwks')
  if (isKeySet(keys)) return keys
  throw new AppError('upstream_failed', 'the platform sent no signing keys')
}

async function signedHead(api: PlatformApi, keys: CheckpointKeys, issuer: string): Promise<ChainHead> {
  const head = await api.json('/api/v1/audit/head')
  if (!isSignedHead(head)) throw new AppError('integrity_violation', 'the platform sent no signed head')
  const stated = await verifyCheckpoint(head.statement, keys, issuer)
  if (stated.sequence !== head.sequence || stated.hash !== head.hash)
    throw new AppError('integrity_violation', 'the signed head differs from the head that the platform reports')
  return stated
}

/** Rejects with `integrity_violation`, which names the first entry that does not verify. */
async function verifyFrom(api: PlatformApi, checkpoints: readonly ChainHead[], say: (text: string) => void): Promise<ChainHead> {
  const verifier = createChainVerifier(...checkpoints)
  let after = 0
  for (;;) {
    const query = new URLSearchParams({ after: String(after), limit: String(pageSize) })
    const entries = entriesOf(await api.lines('/api/v1/audit', query))
    verifier.add(entries)
    const last = entries.at(-1)
    if (last === undefined) break
    if (last.sequence <= after)
      throw new AppError('integrity_violation', `entry ${after + 1}: the platform sent earlier entries again`)
    after = last.sequence
    say(`${after} entries read`)
  }
  const result = verifier.result()
  if (!result.ok) throw new AppError('integrity_violation', `entry ${result.sequence}: ${result.problem}`)
  return result.head
}

type AuditVerifyOptions = { readonly output: PlainFormat; readonly checkpoint?: string }

async function keptCheckpoints(file: string | undefined, keys: CheckpointKeys, issuer: string): Promise<readonly ChainHead[]> {
  if (file === undefined) return []
  const text = await readTextFile(file)
  if (text === undefined) throw new AppError('invalid_request', `--checkpoint: the file ${file} does not exist`)
  return checkpointsIn(text, keys, issuer)
}

/** Verifies the whole log and saves its head. Rejects with `integrity_violation` when it does not verify. */
export async function auditVerify(context: CommandContext, options: AuditVerifyOptions): Promise<void> {
  const { settings, terminal, say } = context
  const headFile = join(
    settings.folders.state,
    `audit-head-${createHash('sha256').update(settings.issuer).digest('hex').slice(0, 16)}.json`,
  )
  const api = await context.api()
  const remembered = await readJsonFile(headFile, isHead)
  const keys = await platformKeys(api)
  const stated = await signedHead(api, keys, settings.issuer)
  const kept = await keptCheckpoints(options.checkpoint, keys, settings.issuer)
  const head = await verifyFrom(api, [stated, ...(remembered === undefined ? [] : [remembered]), ...kept], say)
  await writePrivateFile(headFile, `${JSON.stringify(head)}\n`)
  const since =
    remembered === undefined
      ? 'first verification on this computer'
      : `entry ${remembered.sequence} is unchanged since the last verification`
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
      `audit log verified: ${head.sequence} entries, head ${head.hash}, signed by ${settings.issuer}; ${since}${kept.length === 0 ? '' : `; ${kept.length} kept checkpoints match`}`,
    )
}
