// `/audit`: entries of the audit log, newest first, a page at a time. Pure. What an entry says is text of others: it is escaped
// like all values.
import { actorText } from '../../../api/audit/actor-text.ts'
import { type AuditGroup, auditGroupNames, auditGroups } from '../../../api/audit/audit-groups.ts'
import type { AuditEntry } from '../../../store/audit/audit-chain.ts'
import { type Html, html } from '../../../web/html.ts'
import type { Person } from '../../sessions.ts'
import { page } from '../layout.ts'
import { shortText, table, time, whole } from '../table.ts'
import { auditLinks, entryLink } from './audit-links.ts'
import { choiceField, problemText, queryOf, textField, timeField } from './filter-fields.ts'
import { outcomeSign } from './outcome-sign.ts'

type Asked = {
  readonly [field in 'namespace' | 'what' | 'person' | 'repository' | 'since' | 'until' | 'before']?: string
}

export function auditPage(options: {
  readonly person: Person
  readonly asked: Asked
  readonly maxRows: number
  readonly entries?: readonly AuditEntry[]
  readonly problem?: string
}): Html {
  const { person, asked, maxRows, entries, problem } = options
  const last = entries?.at(-1)
  const isFull = entries?.length === maxRows && last !== undefined
  const older = isFull && html`<p><a href="/audit?${queryOf({ ...asked, before: String(last.sequence) })}">Older entries</a></p>`
  return page({
    title: 'Audit log',
    person,
    body: html`${auditLinks('/audit', asked.namespace)}
${problemText(problem)}${filterForm(asked)}
${entries === undefined ? undefined : entries.length === 0 ? html`<p>No entry is like that.</p>` : entryTable(entries, asked)}
${older}<p class="fine">This page does not verify the log. <code>sekisho audit verify</code> does, on your computer.</p>`,
  })
}

const groupText = (group: AuditGroup): string => `${group}: ${auditGroups[group]}`

function filterForm({ what, person, repository, namespace, since, until }: Asked): Html {
  const groups = auditGroupNames.map(group => [group, groupText(group)] as const)
  return html`<form class="filter" method="get" action="/audit">
${choiceField({ name: 'what', label: 'What', value: what }, [['', 'everything'], ...groups])}
${textField({ name: 'person', label: 'Person', value: person, hint: 'login' })}
${textField({ name: 'repository', label: 'Repository', value: repository, hint: 'owner/name' })}
${textField({ name: 'namespace', label: 'Namespace', value: namespace })}
${timeField({ name: 'since', label: 'Since', value: since })}
${timeField({ name: 'until', label: 'Until', value: until })}
<button>Show</button></form>`
}

function entryTable(entries: readonly AuditEntry[], { namespace }: Asked): Html {
  return table({
    caption: 'The number leads to everything that the entry says.',
    columns: ['Entry', 'At', 'Who', 'What', 'Outcome', 'Object', 'Why'],
    rows: entries.map(entry => [
      entryLink(entry.sequence, namespace),
      time(entry.at),
      whole(shortText(actorText(entry), 100)),
      whole(entry.action),
      outcomeSign(entry.outcome),
      whole(shortText(entry.object, 100)),
      shortText(entry.reason, 200),
    ]),
  })
}
