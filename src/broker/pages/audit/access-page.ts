// `/access`: who could reach a repository, or what a person or a workload could reach, by which grant and rule; and who did.
// Pure.
import type { Delivered } from '../../../api/audit/access/deliveries.ts'
import type { GrantInterval, Span } from '../../../api/audit/access/grant-intervals.ts'
import { shortActor, shortPerson } from '../../../api/audit/actor-text.ts'
import { permissionsText } from '../../../api/github/repository-grant/access-text.ts'
import { type Html, html } from '../../../web/html.ts'
import type { AccessAnswer } from '../../auditors/answer-access.ts'
import type { Person } from '../../sessions.ts'
import { page } from '../layout.ts'
import { shortText, table, time, whole } from '../table.ts'
import { auditLinks, entryLink } from './audit-links.ts'
import { choiceField, problemText, textField, timeField } from './filter-fields.ts'

type Asked = { readonly [field in 'of' | 'name' | 'namespace' | 'since' | 'until']?: string }

export function accessPage(options: {
  readonly person: Person
  readonly asked: Asked
  readonly span?: Span
  readonly answer?: AccessAnswer
  readonly problem?: string
}): Html {
  const { person, asked, span, answer, problem } = options
  return page({
    title: 'Who could, and who did',
    person,
    body: html`${auditLinks('/access', asked.namespace)}
${problemText(problem)}${form(asked)}
${span && answer && result(span, answer, asked.namespace)}`,
  })
}

function form({ of, name, namespace, since, until }: Asked): Html {
  return html`<form class="filter" method="get" action="/access">
${choiceField({ name: 'of', label: 'Of', value: of }, [
  ['repository', 'a repository: owner/name or its number'],
  ['person', 'a person: login'],
  ['workload', 'a workload: namespace/ServiceAccount'],
])}
${textField({ name: 'name', label: 'Name', value: name, hint: 'acme/shop' })}
${textField({ name: 'namespace', label: 'Namespace', value: namespace })}
${timeField({ name: 'since', label: 'Since', value: since })}
${timeField({ name: 'until', label: 'Until', value: until })}
<button>Show</button></form>
<p class="fine">Without times: the last hour. With the same time twice: that moment.</p>`
}

function result({ since, until }: Span, { could, did, notListed }: AccessAnswer, namespace: string | undefined): Html {
  const isMoment = since.getTime() === until.getTime()
  const when = isMoment ? html`at ${time(until)}` : html`from ${time(since)} to ${time(until)}`
  return html`<h2>Could</h2><p class="fine">${when}</p>
${could.length === 0 ? html`<p>Nobody: no grant was approved.</p>` : couldTable(could, namespace)}
<h2>${isMoment ? 'Had received a token within the hour before' : 'Did'}</h2>
${did.length === 0 ? html`<p>Nobody: no token was delivered.</p>` : didTable(did)}
${notListed > 0 && html`<p>And ${notListed} further deliveries: ask for a shorter time.</p>`}`
}

function couldTable(could: readonly GrantInterval[], namespace: string | undefined): Html {
  return table({
    caption: 'Grants, with the rule that approved each. The entry is that of the decision.',
    columns: ['Grant', 'Who', 'Permissions', 'In the name of', 'Rule', 'From', 'Until', 'Entry'],
    rows: could.map(one => [
      whole(one.grant),
      shortText(one.subjects.join(', ')),
      permissionsText(one.permissions),
      whole(shortPerson(one.person, one.login)),
      whole(one.rule),
      time(one.from),
      endText(one),
      entryLink(one.sequence, namespace),
    ]),
  })
}

function endText({ until, end }: GrantInterval): Html | string {
  if (until === undefined) return 'still'
  const why = [end?.cause, end?.by && `by ${end.by}`].filter(Boolean).join(' ')
  return html`${time(until)} ${shortText(why)}`
}

function didTable(did: readonly Delivered[]): Html {
  return table({
    caption: 'Who received tokens.',
    columns: ['Who', 'Pod', 'From', 'Grant', 'In the name of', 'Times', 'First', 'Last'],
    rows: did.map(one => [
      whole(shortActor(one.who)),
      whole(one.pod ?? '-'),
      one.address ?? '-',
      whole(one.grant),
      whole(shortPerson(one.person, one.login)),
      String(one.times),
      time(one.first),
      time(one.last),
    ]),
  })
}
