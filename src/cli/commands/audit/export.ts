// `sekisho audit export`: the audit log, or the part of it since a time, as JSON lines with everything by which it verifies
// elsewhere: where it begins, signed checkpoints, the keys. What it needs stands before the entries, so that a file of any
// length is verified in one reading. It ends with an entry that the platform signed.

import { mergedKeys, verifyCheckpoint } from '../../../identity/oidc/audit-checkpoint.ts'
import { AppError } from '../../../lib/errors.ts'
import { startBefore } from '../../../lib/hash-chain/chain-start.ts'
import type { ChainHead } from '../../../lib/hash-chain/hash-chain.ts'
import { drained, jsonLine } from '../../output.ts'
import type { PlatformApi } from '../../platform-api.ts'
import type { CommandContext } from '../context.ts'
import { entriesOf } from './entry.ts'
import { streamEntries } from './entry-stream.ts'
import { timeRange } from './filters.ts'
import type { Signer } from './verification/losses.ts'
import { platformCheckpoints } from './verification/platform-checkpoints.ts'
import { platformKeys, provenStart, signedHead } from './verify.ts'

type AuditExportOptions = { readonly since?: string; readonly until?: string }

/** Prints the export. Nothing is verified: whoever reads it does. */
export async function auditExport(context: CommandContext, options: AuditExportOptions): Promise<void> {
  const { terminal, settings, clock } = context
  const range = timeRange(context, options)
  const api = await context.api()
  const kept = await platformCheckpoints(api)
  const signer: Signer = { keys: mergedKeys(await platformKeys(api), kept.keys), issuer: settings.issuer }
  const stated = await signedHead(api, signer)
  const begun = await provenStart(api, signer)
  const start = range.since === undefined ? begun.start : await startSince(api, range.since, stated)
  const attested = [...(await attestedAfter(kept.statements, signer, start)), stated]
  const end = range.until === undefined ? stated.sequence : await endBefore(api, range.until, attested)
  const heads = attested.filter(({ sequence }) => sequence <= end)
  const print = (value: object) => terminal.result(jsonLine(value))
  const period = { since: range.since?.toISOString(), until: range.until?.toISOString() }
  print({ export: { version: 1, issuer: signer.issuer, exportedAt: clock.now().toISOString(), ...period, start } })
  print({ keys: signer.keys.keys })
  for (const { statement } of heads) print({ checkpoint: statement })
  for (const cut of start.sequence === begun.start.sequence ? begun.statements : []) print({ cut })
  for (const acknowledgement of kept.acknowledgements) print({ acknowledgement })
  let last: ChainHead = start
  let count = 0
  for await (const batch of streamEntries(context, { after: start.sequence })) {
    const entries = batch.filter(({ sequence }) => sequence <= end)
    if (entries.length > 0) terminal.result(entries.map(jsonLine).join('\n'))
    last = entries.at(-1) ?? last
    count += entries.length
    if (entries.length < batch.length) break
    await drained()
  }
  print({ end: { entries: count, head: { sequence: last.sequence, hash: last.hash } } })
  context.say(`${count} entries, up to ${last.sequence}: sekisho audit verify --export <file> verifies them anywhere`)
}

type SignedStatement = ChainHead & { readonly statement: string }

/** The first signed entry that is not before the last one of the period: the period verifies by it. */
async function endBefore(api: PlatformApi, until: Date, attested: readonly ChainHead[]): Promise<number> {
  const query = new URLSearchParams({ after: '0', since: until.toISOString(), limit: '1' })
  const [behind] = entriesOf(await api.lines('/api/v1/audit', query))
  const ends = attested.map(({ sequence }) => sequence)
  return behind === undefined ? Math.max(...ends) : Math.min(...ends.filter(sequence => sequence >= behind.sequence - 1))
}

async function startSince(api: PlatformApi, since: Date, head: ChainHead): Promise<ChainHead> {
  const query = new URLSearchParams({ after: '0', since: since.toISOString(), limit: '1' })
  const [first] = entriesOf(await api.lines('/api/v1/audit', query))
  return first === undefined ? { sequence: head.sequence, hash: head.hash } : startBefore(first)
}

async function attestedAfter(
  statements: readonly string[],
  { keys, issuer }: Signer,
  start: ChainHead,
): Promise<SignedStatement[]> {
  const heads: SignedStatement[] = []
  for (const statement of statements) heads.push({ ...(await verifyCheckpoint(statement, keys, issuer)), statement })
  return heads.filter(({ sequence }) => sequence >= start.sequence)
}

/** Where an export has something else than lines of an export. */
export function notAnExport(what: string): AppError {
  return new AppError('invalid_request', `--export: ${what}; sekisho audit export writes such a file`)
}
