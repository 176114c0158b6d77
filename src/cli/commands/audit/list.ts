// `sekisho audit list`, `show` and `follow`: who did what and why.
import { auditEvents } from '../../../api/audit/audit-event.ts'
import type { AuditEvent } from '../../../api/audit/audit-event-shape.ts'
import { AppError } from '../../../lib/errors.ts'
import { textAt } from '../../../lib/json/json-value.ts'
import { json, jsonLine, table } from '../../output.ts'
import type { CommandContext } from '../context.ts'
import { type Entry, entriesOf } from './entry.ts'
import { streamEntries } from './entry-stream.ts'
import { type AuditFilterOptions, filterQuery } from './filters.ts'
import { entryTable, entryText, wideCells, wideHeaders } from './words.ts'

export type EntriesFormat = 'table' | 'wide' | 'json' | 'jsonl'
type AuditListOptions = AuditFilterOptions & { readonly limit: string; readonly output: EntriesFormat }

const pageSize = 1000

/** Prints entries, newest first, page by page: however many there are, one page is in memory. */
export async function auditList(context: CommandContext, options: AuditListOptions): Promise<void> {
  const query = await filterQuery(context, options)
  const printer = printerOf(context, options.output)
  let left = Number(options.limit)
  while (left > 0) {
    const size = Math.min(left, pageSize)
    query.set('limit', String(size))
    const page = entriesOf(await (await context.api()).lines('/api/v1/audit', query))
    printer.page(page)
    const last = page.at(-1)
    if (last === undefined || page.length < size) break
    left -= page.length
    query.set('before', String(last.sequence))
  }
  printer.end()
}

type Printer = { readonly page: (entries: readonly Entry[]) => void; readonly end: () => void }

function printerOf({ terminal, say }: CommandContext, output: EntriesFormat): Printer {
  let printed = 0
  const said = () => (printed === 0 ? say('no entry of the log is like that') : undefined)
  const print: Readonly<Record<EntriesFormat, (entries: readonly Entry[]) => void>> = {
    table: entries => terminal.result(entryTable(entries, printed === 0)),
    wide: entries => terminal.result(table(wideHeaders, entries.map(wideCells))),
    jsonl: entries => terminal.result(entries.map(jsonLine).join('\n')),
    // One array, of which no more than a page is in memory.
    json: entries => terminal.result(`${printed === 0 ? '[' : ','}\n${entries.map(entry => json(entry)).join(',\n')}`),
  }
  return {
    page(entries) {
      if (entries.length === 0) return
      print[output](entries)
      printed += entries.length
    },
    end() {
      if (output === 'json') terminal.result(printed === 0 ? '[]' : ']')
      said()
    },
  }
}

/** Prints what is appended from now on, until it is ended. Begins with the entries since `--since`, or after `--after`. */
export async function auditFollow(
  context: CommandContext,
  options: AuditFilterOptions & { readonly after?: string; readonly output: 'table' | 'jsonl' },
): Promise<void> {
  const query = await filterQuery(context, options)
  const begin = options.after ?? (options.since === undefined ? await newestSequence(context, query) : '0')
  let heading = true
  for await (const entries of streamEntries(context, { query, after: Number(begin), follow: true })) {
    context.terminal.result(options.output === 'jsonl' ? entries.map(jsonLine).join('\n') : entryTable(entries, heading))
    heading = false
  }
}

/** Of the entries that the person may read. */
async function newestSequence(context: CommandContext, filters: URLSearchParams): Promise<string> {
  const namespace = filters.get('namespace')
  const query = new URLSearchParams({ limit: '1', ...(namespace === null ? {} : { namespace }) })
  const [newest] = entriesOf(await (await context.api()).lines('/api/v1/audit', query))
  return String(newest?.sequence ?? 0)
}

/** Prints one entry in words. Rejects with `not_found` for one that is not there, or that the person may not read. */
export async function auditShow(
  context: CommandContext,
  { argument, output, namespace }: { readonly argument: string; readonly output: 'table' | 'json'; readonly namespace?: string },
): Promise<void> {
  const query = new URLSearchParams({ after: String(Number(argument) - 1), limit: '1' })
  if (namespace !== undefined) query.set('namespace', namespace)
  const [entry] = entriesOf(await (await context.api()).lines('/api/v1/audit', query))
  if (entry?.sequence !== Number(argument))
    throw new AppError('not_found', `there is no entry ${argument}, or you may not read it`)
  if (output === 'json') return context.terminal.result(json(entry))
  const event = own<AuditEvent>(auditEvents, textAt(entry, 'action'))
  const meaning = own<string | undefined>(event?.outcomes ?? {}, textAt(entry, 'outcome'))
  context.terminal.result(entryText(entry, event?.description, meaning))
}

/** What a word of the platform names among ours: never a property that every object has. */
function own<T>(of: Readonly<Record<string, T>>, word = ''): T | undefined {
  return Object.hasOwn(of, word) ? of[word] : undefined
}
