// `sekisho audit verify --export`: verifies an export on a computer that may never have seen the platform. It asks nobody: the
// keys come from a file that the user trusts, or from the export itself, and then it says whose they claim to be. One entry at
// a time is in memory.
import { createReadStream } from 'node:fs'
import { type CheckpointKeys, thumbprints, verifyCheckpoint } from '../../../identity/oidc/audit-checkpoint.ts'
import { AppError, messageOf } from '../../../lib/errors.ts'
import type { AttestedHead } from '../../../lib/hash-chain/attested-heads.ts'
import { isSameHead } from '../../../lib/hash-chain/chain-start.ts'
import type { ChainHead } from '../../../lib/hash-chain/hash-chain.ts'
import { completeLines } from '../../../lib/http/byte-stream.ts'
import { asObject, type JsonObject, listAt, objectAt, parseJson, textAt } from '../../../lib/json/json-value.ts'
import { isHead } from '../../files/audit-head-file.ts'
import { keysIn } from '../../files/checkpoint-file.ts'
import { json, jsonLine, type PlainFormat, type Terminal } from '../../output.ts'
import { type Entry, isEntry } from './entry.ts'
import { notAnExport } from './export.ts'
import { keepMemorySteady } from './steady-memory.ts'
import { requireCut, type Signer } from './verification/losses.ts'
import { cutText } from './verification/show-verified.ts'
import { verifyEntries } from './verification/verify-entries.ts'

export type VerifyExportOptions = { readonly export: string; readonly keys?: string; readonly output: PlainFormat }

const maxLineLength = 1024 * 1024
const maxBefore = 100_000

type Beginning = {
  readonly issuer: string
  readonly start: ChainHead
  /** Of a part: it may begin anywhere. */
  readonly since: string | undefined
  readonly keys: CheckpointKeys
  readonly checkpoints: readonly string[]
  readonly cuts: readonly string[]
  readonly acknowledgements: readonly string[]
}

/** Rejects as `auditVerify`, and with `invalid_request` for a file that is no export. */
export async function verifyExport(terminal: Terminal, options: VerifyExportOptions): Promise<void> {
  keepMemorySteady()
  const lines = linesOf(options.export)
  const { beginning, first } = await readBeginning(lines)
  const given = options.keys === undefined ? undefined : await keysIn(options.keys)
  const signer: Signer = { keys: given ?? beginning.keys, issuer: beginning.issuer }
  const heads: AttestedHead[] = []
  for (const statement of beginning.checkpoints) heads.push(await verifyCheckpoint(statement, signer.keys, signer.issuer))
  const { start, since } = beginning
  const cut = since === undefined ? await requireCut(start, beginning.cuts, signer) : undefined
  const { acknowledgements } = beginning
  const entries = entriesFrom(first, lines)
  const verified = await verifyEntries({ entries, start, heads, acknowledgements, signer, say: terminal.say })
  if (!heads.some(head => isSameHead(head, verified.head)))
    throw new AppError(
      'integrity_violation',
      `entry ${verified.head.sequence}: no signed checkpoint attests the last entry of the export`,
    )
  const whose = given === undefined ? await claimText(signer) : `the keys of ${options.keys}`
  if (options.output === 'json') {
    const { head, read, losses } = verified
    const pruned = cut === undefined ? null : { through: cut.sequence, by: cut.by, at: cut.at.toISOString() }
    const ownKeys = given === undefined
    return terminal.result(json({ ok: true, issuer: signer.issuer, start, head, entries: read, ownKeys, losses, pruned }))
  }
  const part = since === undefined ? '' : `; a part: it begins after entry ${start.sequence}`
  const missing = verified.losses.map(
    ({ from, to, by, at }) => `\nentries ${from} to ${to} are missing: acknowledged by ${by} at ${at}`,
  )
  terminal.result(
    `export verified: ${verified.read} entries, head ${verified.head.hash}, signed by ${signer.issuer}${part}; verified with ${whose}${cutText(cut)}${missing.join('')}`,
  )
}

/** Keys that came with the entries prove that both are of one origin, and not which. */
async function claimText({ keys, issuer }: Signer): Promise<string> {
  const prints = (await thumbprints(keys)).join(', ')
  return `the keys in the export, which says that they are of ${issuer} (SHA-256 thumbprints: ${prints}): whoever made the file may have made them; --keys with what ${issuer}/oidc/jwks showed proves it`
}

/**
 * Only lines that are written as an export writes them: one with a field twice, or with letters of its name escaped, may say
 * something else to other programs than to this one (RFC 8259 §4).
 */
async function* linesOf(file: string): AsyncGenerator<JsonObject> {
  try {
    for await (const line of completeLines(maxLineLength, createReadStream(file))) {
      const value = asObject(parseJson(line))
      if (value === undefined) throw notAnExport(`${file} has a line that is not JSON: ${line.slice(0, 60)}`)
      if (jsonLine(value) !== line.trim())
        throw new AppError(
          'integrity_violation',
          `the export has a line that no export writes so, and that programs may read differently: ${line.slice(0, 60)}`,
        )
      yield value
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('invalid_request', `--export: ${file} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

/** Everything before the first entry. */
async function readBeginning(
  lines: AsyncGenerator<JsonObject>,
): Promise<{ readonly beginning: Beginning; readonly first: JsonObject | undefined }> {
  const { value: header } = await lines.next()
  const about = objectAt(header, 'export')
  const issuer = textAt(about, 'issuer')
  const start: unknown = about?.['start']
  if (issuer === undefined || !isHead(start)) throw notAnExport('the file does not begin as an export')
  const texts = { checkpoint: [] as string[], cut: [] as string[], acknowledgement: [] as string[] }
  let keys: CheckpointKeys = { keys: [] }
  let first: JsonObject | undefined
  for (let count = 0; first === undefined; count += 1) {
    const { value, done } = await lines.next()
    if (done === true) break
    if (count > maxBefore) throw notAnExport(`more than ${maxBefore} lines stand before the first entry`)
    if (Array.isArray(value['keys'])) keys = { keys: listAt(value, 'keys') as CheckpointKeys['keys'] }
    else if (!keepText(value, texts)) first = value
  }
  const { checkpoint: checkpoints, cut: cuts, acknowledgement: acknowledgements } = texts
  return { beginning: { issuer, start, since: textAt(about, 'since'), keys, checkpoints, cuts, acknowledgements }, first }
}

function keepText(value: JsonObject, texts: Readonly<Record<string, string[]>>): boolean {
  for (const [field, list] of Object.entries(texts)) {
    const text = textAt(value, field)
    if (text === undefined || isEntry(value)) continue
    list.push(text)
    return true
  }
  return false
}

async function* entriesFrom(first: JsonObject | undefined, lines: AsyncGenerator<JsonObject>): AsyncGenerator<readonly Entry[]> {
  for (let value = first; value !== undefined; value = (await lines.next()).value) {
    if (isEntry(value)) yield [value]
    else if (objectAt(value, 'end') !== undefined) return
    else throw new AppError('integrity_violation', 'the export has a line between its entries that is none')
  }
  throw new AppError('log_truncated', 'the export was cut off: its last line is missing')
}
