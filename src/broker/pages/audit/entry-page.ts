// `/audit/:sequence`: everything that one entry of the audit log says. Pure.
import type { AuditEntry } from '../../../store/audit/audit-chain.ts'
import { type Html, html } from '../../../web/html.ts'
import type { Person } from '../../sessions.ts'
import { page } from '../layout.ts'
import { facts, time, whole } from '../table.ts'
import { queryOf } from './filter-fields.ts'
import { outcomeSign } from './outcome-sign.ts'

export function entryPage(options: {
  readonly person: Person
  readonly entry: AuditEntry
  /** That the reader named. */
  readonly within: string | undefined
}): Html {
  const { person, entry, within } = options
  const { at, action, actor, namespace, object, outcome, reason, details, hash, previousHash } = entry
  const said = Object.entries(details).map(([name, value]): readonly [string, Html] => [name, detail(value)])
  return page({
    title: `Entry ${entry.sequence} of the audit log`,
    person,
    body: html`<p><a href="/audit?${queryOf({ namespace: within, before: String(entry.sequence + 1) })}">This entry and older ones</a></p>
${facts([
  ['At', time(at)],
  ['Who', whole(actor)],
  ['What', whole(action)],
  ['Outcome', outcomeSign(outcome)],
  ['Namespace', namespace],
  ['Object', whole(object)],
  ['Why', reason],
])}<h2>Details</h2>
${said.length === 0 ? html`<p>None.</p>` : facts(said)}<h2>Chain</h2>
${facts([
  ['Hash', html`<code class="any">${hash}</code>`],
  ['Follows', html`<code class="any">${previousHash}</code>`],
])}`,
  })
}

function detail(value: unknown): Html {
  return typeof value === 'string' ? whole(value) : html`<code class="any">${JSON.stringify(value)}</code>`
}
