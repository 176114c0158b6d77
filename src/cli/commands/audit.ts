// `sekisho audit list`: who did what and why.
import { AppError } from '../../lib/errors.ts'
import type { ChainLink } from '../../lib/hash-chain/hash-chain.ts'
import { asObject, textAt } from '../../lib/json/json-value.ts'
import { isHead } from '../files/audit-head-file.ts'
import { json, type OutputFormat, table } from '../output.ts'
import type { CommandContext } from './context.ts'

/** An entry as the platform sent it: nothing is verified yet. */
export type Entry = ChainLink & Readonly<Record<string, unknown>>

type AuditListOptions = {
  readonly namespace?: string
  readonly action?: string
  readonly actor?: string
  readonly outcome?: string
  readonly object?: string
  readonly repository?: string
  /** In seconds. */
  readonly since?: number
  readonly limit: string
  readonly output: OutputFormat
}

function isEntry(value: unknown): value is Entry {
  return isHead(value) && textAt(asObject(value), 'previousHash') !== undefined
}

/** Throws `integrity_violation` unless every value has the form of an entry. */
export function entriesOf(values: readonly unknown[]): readonly Entry[] {
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
  for (const name of ['namespace', 'action', 'actor', 'outcome', 'object', 'repository'] as const) {
    const value = options[name]
    if (value !== undefined) query.set(name, value)
  }
  if (options.since !== undefined)
    query.set('since', new Date(context.clock.now().getTime() - options.since * 1000).toISOString())
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
