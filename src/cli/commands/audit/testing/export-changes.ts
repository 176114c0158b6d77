// For tests: what somebody may change in an export. Pure: each change is a function of the export's parts, and after none of
// them may it verify as what it was.
import { emptyHead } from '../../../../lib/hash-chain/hash-chain.ts'
import { type AuditEntry, nextEntries } from '../../../../store/audit/audit-chain.ts'
import { tokenRecord } from './exported-log.ts'

type Json = Readonly<Record<string, unknown>>
type Head = { readonly sequence: number; readonly hash: string }

/** An export by what its lines are. */
export type ExportParts = {
  readonly header: Json & { readonly start: Head }
  readonly keys: unknown
  readonly checkpoints: readonly string[]
  readonly cuts: readonly string[]
  readonly entries: readonly AuditEntry[]
  /** Undefined when the last line is missing. */
  readonly end: unknown
}

export function partsOf(lines: readonly string[]): ExportParts {
  const all = lines.map(line => JSON.parse(line))
  const of = (field: string): readonly string[] => all.flatMap(value => value[field] ?? [])
  const entries = all.filter(value => 'previousHash' in value)
  const [header, end] = [all[0]?.export, all.find(value => 'end' in value)?.end]
  return { header, keys: of('keys'), checkpoints: of('checkpoint'), cuts: of('cut'), entries, end }
}

export function linesOf({ header, keys, checkpoints, cuts, entries, end }: ExportParts): readonly string[] {
  const before = [{ export: header }, { keys }, ...checkpoints.map(checkpoint => ({ checkpoint })), ...cuts.map(cut => ({ cut }))]
  return [...before, ...entries, ...(end === undefined ? [] : [{ end }])].map(value => JSON.stringify(value))
}

/** A change at one of the entries, by its place among them. */
export type ExportChange = readonly [name: string, change: (parts: ExportParts, at: number) => ExportParts]

/** Another hexadecimal text of the same length. */
const otherHash = (hash: string): string => `${hash.startsWith('0') ? '1' : '0'}${hash.slice(1)}`

type Details = AuditEntry['details']
const details = (change: (given: Details) => Json) => (entry: AuditEntry) => ({ details: change(entry.details) as Details })

/** Each field of an entry, and each kind of value in its details. */
const fields: readonly (readonly [string, (entry: AuditEntry) => Json])[] = [
  ['sequence', ({ sequence }) => ({ sequence: sequence + 1 })],
  ['at', ({ at }) => ({ at: new Date(Date.parse(at) + 1).toISOString() })],
  ['action', ({ action }) => ({ action: action === 'token.minted' ? 'token.revoked' : 'token.minted' })],
  ['actor', ({ actor }) => ({ actor: `${actor}0` })],
  ['namespace', ({ namespace }) => ({ namespace: `${namespace ?? ''}x` })],
  ['namespace, removed or added', ({ namespace }) => ({ namespace: namespace === undefined ? 'acme' : undefined })],
  ['object', ({ object }) => ({ object: `${object}x` })],
  ['outcome', ({ outcome }) => ({ outcome: outcome === 'allowed' ? 'denied' : 'allowed' })],
  ['reason, by a space', ({ reason }) => ({ reason: `${reason} ` })],
  ['previousHash', ({ previousHash }) => ({ previousHash: otherHash(previousHash) })],
  ['hash', ({ hash }) => ({ hash: otherHash(hash) })],
  ['a number in details', details(given => ({ ...given, count: Number(given['count'] ?? 0) + 1 }))],
  ['a text in details', details(given => ({ ...given, host: `${String(given['host'])}x` }))],
  ['a truth value in details', details(given => ({ ...given, attested: given['attested'] !== true }))],
  ['a list in details, by one more', details(given => ({ ...given, repositoryIds: [1, 2, 3] }))],
  ['a list in details, by its order', details(given => ({ ...given, repositoryIds: [2, 1] }))],
  ['an object in details', details(given => ({ ...given, permissions: { contents: 'write' } }))],
  ['a field in details, that is null', details(given => ({ ...given, host: null }))],
  ['a field in details, added', details(given => ({ ...given, added: 0 }))],
  ['all details, removed', details(() => ({}))],
  ['a field that entries do not have', () => ({ note: '' })],
]

const edits = fields.map(
  ([name, edit]): ExportChange => [
    `a changed field: ${name}`,
    (parts, at) => withEntries(parts, parts.entries.with(at, { ...entryAt(parts, at), ...edit(entryAt(parts, at)) })),
  ],
)

/** The entries from a place on, chained anew: what the platform signed does not fit any more. */
function chainedAnew({ entries, header }: ExportParts, at: number, until = entries.length): readonly AuditEntry[] {
  const before = entries[at - 1] ?? { ...emptyHead, ...header.start }
  const records = entries.slice(at, until).map(entry => ({ record: tokenRecord('forged'), at: new Date(entry.at) }))
  return entries.toSpliced(at, records.length, ...nextEntries(before, records))
}

const sequences: readonly ExportChange[] = [
  ['an entry is removed', (parts, at) => withEntries(parts, parts.entries.toSpliced(at, 1))],
  ['an entry is doubled', (parts, at) => withEntries(parts, parts.entries.toSpliced(at, 0, entryAt(parts, at)))],
  [
    'two entries are swapped',
    (parts, at) => {
      const first = Math.min(at, parts.entries.length - 2)
      return withEntries(parts, parts.entries.toSpliced(first, 2, entryAt(parts, first + 1), entryAt(parts, first)))
    },
  ],
  [
    'an entry is inserted',
    (parts, at) => withEntries(parts, parts.entries.toSpliced(at, 0, ...chainedAnew(parts, at).slice(at, at + 1))),
  ],
  ['an entry is replaced by one that fits the one before it', (parts, at) => withEntries(parts, chainedAnew(parts, at, at + 1))],
  ['the chain is computed anew', (parts, at) => withEntries(parts, chainedAnew(parts, at))],
  ['the head is cut off', (parts, at) => withEntries(parts, parts.entries.slice(at + 1))],
  [
    'the head is cut off, and the beginning says so',
    (parts, at) => {
      const { sequence, hash } = entryAt(parts, at)
      return { ...withEntries(parts, parts.entries.slice(at + 1)), header: { ...parts.header, start: { sequence, hash } } }
    },
  ],
  ['the tail is cut off', (parts, at) => withEntries(parts, parts.entries.slice(0, at))],
  [
    'the tail is cut off, and the end says so',
    (parts, at) => ({
      ...withEntries(parts, parts.entries.slice(0, at)),
      end: { entries: at, head: parts.entries[at - 1] ?? parts.header.start },
    }),
  ],
  [
    'the tail is cut off, and the last line',
    (parts, at) => ({ ...withEntries(parts, parts.entries.slice(0, at)), end: undefined }),
  ],
]

const beginnings: readonly ExportChange[] = [
  ['the last line is removed', parts => ({ ...parts, end: undefined })],
  ['the issuer is another one', parts => ({ ...parts, header: { ...parts.header, issuer: 'https://sekisho.example.com' } })],
  ['the beginning is another entry', parts => startingAt(parts, { sequence: parts.header.start.sequence + 1 })],
  ['the beginning has another hash', parts => startingAt(parts, { hash: otherHash(parts.header.start.hash) })],
]

/** All that needs no keys; one upon the other they are found as well. */
export const exportChanges: readonly ExportChange[] = [...edits, ...sequences, ...beginnings]

const entryAt = ({ entries }: ExportParts, at: number): AuditEntry => entries[at] as AuditEntry
const withEntries = (parts: ExportParts, entries: readonly AuditEntry[]): ExportParts => ({ ...parts, entries })
const startingAt = (parts: ExportParts, start: Partial<Head>): ExportParts => ({
  ...parts,
  header: { ...parts.header, start: { ...parts.header.start, ...start } },
})

/** One character of an entry, or of what was signed, is another one. The last one of a signature has bits that mean nothing. */
export function otherCharacter(
  lines: readonly string[],
  numbers: { readonly line: number; readonly at: number; readonly to: number },
) {
  const protectedLines = lines.flatMap((line, index) => (/^\{"(?:checkpoint|cut)":|"previousHash":/.test(line) ? [index] : []))
  const index = protectedLines[numbers.line % protectedLines.length] ?? 0
  const line = lines[index] ?? ''
  const at = numbers.at % (line.length - 3)
  return lines.with(index, `${line.slice(0, at)}${String.fromCharCode(33 + (numbers.to % 94))}${line.slice(at + 1)}`)
}
