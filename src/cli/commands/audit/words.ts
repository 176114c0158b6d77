// Entries of the audit log as people read them: a row of at most 100 columns, or all of one entry in words. Pure.
import { actorText } from '../../../api/audit/actor-text.ts'
import { asObject, isJsonObject, textAt } from '../../../lib/json/json-value.ts'
import { printable } from '../../../lib/text/printable.ts'
import type { Entry } from './entry.ts'

const maxColumns = 100
const headers = ['SEQUENCE', 'AT (UTC)', 'WHO', 'WHAT', '', 'OBJECT', 'WHY'] as const
/** The longest that these columns become; the last one has the rest. */
const limits = [15, 19, 24, 24, 3, 32] as const
const outcomes: ReadonlyMap<string, string> = new Map([
  ['allowed', 'ok'],
  ['denied', 'no'],
  ['failed', 'err'],
])
/** Less than this of a reason says nothing. */
const leastReason = 8

/** A page of entries; the heading is left out on later pages. */
export function entryTable(entries: readonly Entry[], withHeading: boolean): string {
  const cells = entries.map(entry => cellsOf(entry).map(printable))
  const rows = withHeading ? [[...headers], ...cells] : cells
  const widths = limits.map((limit, column) => Math.min(limit, Math.max(0, ...rows.map(row => row[column]?.length ?? 0))))
  return rows.map(row => line(row, widths)).join('\n')
}

function line(row: readonly string[], widths: readonly number[]): string {
  const start = widths.map((width, column) => cut(row[column] ?? '', width).padEnd(width)).join('  ')
  const left = maxColumns - start.length - 2
  const reason = left < leastReason ? '' : cut(row[widths.length] ?? '', left)
  return cut(`${start}  ${reason}`.trimEnd(), maxColumns)
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`
}

function cellsOf(entry: Entry): readonly string[] {
  const text = (field: string): string => textAt(entry, field) ?? ''
  return [
    String(entry.sequence),
    shortTime(text('at')),
    actorText(entry),
    text('action'),
    outcomes.get(text('outcome')) ?? text('outcome'),
    text('object').replace(/^[A-Za-z]+\//, ''),
    text('reason'),
  ]
}

/** To the second, in UTC. */
export function shortTime(at: string): string {
  return at.slice(0, 19).replace('T', ' ')
}

/** For wide tables: everything, however long. */
export function wideCells(entry: Entry): readonly string[] {
  const text = (field: string): string => textAt(entry, field) ?? ''
  return [
    String(entry.sequence),
    ...['at', 'actor', 'action', 'outcome', 'object', 'reason'].map(text),
    JSON.stringify(entry['details'] ?? {}),
    entry.hash.slice(0, 12),
  ]
}
export const wideHeaders = ['SEQUENCE', 'AT', 'WHO', 'WHAT', 'OUTCOME', 'OBJECT', 'WHY', 'DETAILS', 'HASH'] as const

const fields = ['at', 'actor', 'action', 'outcome', 'object', 'namespace', 'reason'] as const

/** All of an entry, a line for each fact. `description` says what the action is. */
export function entryText(entry: Entry, description: string | undefined, meaning: string | undefined): string {
  const facts = Object.entries(asObject(entry['details']) ?? {}).map(([field, value]): [string, string] => [field, shown(value)])
  const known = fields.flatMap((field): [string, string][] => {
    const value = textAt(entry, field)
    return value === undefined ? [] : [[field, value]]
  })
  const lines: readonly (readonly [string, string])[] = [
    ['entry', String(entry.sequence)],
    ...known,
    ...facts,
    ['hash', entry.hash],
    ['follows', entry.previousHash],
  ]
  const width = Math.max(...lines.map(([name]) => name.length))
  const rows = lines.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}`)
  return [...[description, meaning].flatMap(text => text ?? []), ...rows].join('\n')
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(shown).join(', ')
  if (!isJsonObject(value)) return JSON.stringify(value)
  return Object.entries(value)
    .map(([field, one]) => `${field}: ${shown(one)}`)
    .join('; ')
}
