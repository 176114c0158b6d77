// `/tokens`: the tokens of GitHub that live now, by the audit log. Pure.
import { deliveriesOf, holderText, type TokenLife } from '../../../api/audit/access/token-lives.ts'
import { shortPerson } from '../../../api/audit/actor-text.ts'
import { type Html, html } from '../../../web/html.ts'
import type { LiveTokens } from '../../auditors/live-tokens.ts'
import type { Person } from '../../sessions.ts'
import { page } from '../layout.ts'
import { shortText, table, time, whole } from '../table.ts'
import { auditLinks, entryLink } from './audit-links.ts'
import { problemText, queryOf, textField } from './filter-fields.ts'

type Asked = { readonly [field in 'repository' | 'person' | 'namespace']?: string }

const maxRepositories = 3

export function tokensPage(options: {
  readonly person: Person
  readonly asked: Asked
  readonly maxRows: number
  readonly now: Date
  readonly found?: LiveTokens
  readonly problem?: string
}): Html {
  const { person, asked, maxRows, now, found, problem } = options
  return page({
    title: 'Live tokens',
    person,
    body: html`${auditLinks('/tokens', asked.namespace)}
${problemText(problem)}${form(asked)}
${found && result(found, { asked, maxRows, now })}`,
  })
}

function form({ repository, person, namespace }: Asked): Html {
  return html`<form class="filter" method="get" action="/tokens">
${textField({ name: 'repository', label: 'Repository', value: repository, hint: 'owner/name' })}
${textField({ name: 'person', label: 'In the name of', value: person, hint: 'login' })}
${textField({ name: 'namespace', label: 'Namespace', value: namespace })}
<button>Show</button></form>`
}

type Shown = { readonly asked: Asked; readonly maxRows: number; readonly now: Date }

function result({ live, mintedSince }: LiveTokens, { asked, maxRows, now }: Shown): Html {
  const left = live.length - maxRows
  const elsewhere = 'name a repository or a namespace, or ask on the command line with'
  return html`<p class="fine">At ${time(now, 'sentence')}, by the log: what GitHub may accept.</p>
${live.length === 0 ? html`<p>No token is live.</p>` : tokenTable(live.slice(0, maxRows), asked)}
${left > 0 && html`<p>And ${left} older ones: ${elsewhere} <code>sekisho tokens list</code>.</p>`}
${
  mintedSince !== undefined &&
  html`<p>More happened than this page reads: tokens that were minted before ${time(mintedSince, 'sentence')} are not listed. To see them,
${elsewhere} <code>sekisho tokens list</code>.</p>`
}
<p class="fine">The entry has the id with which <code>sekisho halt token</code> ends one, and keeps it ended.</p>`
}

function tokenTable(live: readonly TokenLife[], { namespace }: Asked): Html {
  return table({
    caption: 'Each token with its grant, the newest first. Its times lead to their entries in the log.',
    columns: ['Repositories', 'For', 'Grant', 'In the name of', 'Since', 'Expires', 'Last delivery'],
    rows: live.map(life => [
      repositoriesCell(life, namespace),
      holderCell(life),
      whole(life.grant ?? 'none: the platform uses it itself'),
      life.person === undefined ? '-' : whole(shortPerson(life.person, life.login)),
      entryLink(life.sequence, namespace, timeOfDay(life.mintedAt)),
      timeOfDay(life.expiresAt),
      deliveryCell(life, namespace),
    ]),
  })
}

/** In UTC. What lives for an hour needs no day. */
function timeOfDay(at: string): Html {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return html`${shortText(at)}`
  return html`<time class="word" datetime="${date.toISOString()}">${date.toISOString().slice(11, 19)} UTC</time>`
}

/** The kind may stand above the name. */
function holderCell(life: TokenLife): Html {
  return html`${holderText(life)
    .split(' ')
    .map((word, index) => html`${index > 0 && ' '}${whole(shortText(word, 130))}`)}`
}

/** Each with who could reach it and who did. */
function repositoriesCell({ repositories }: TokenLife, namespace: string | undefined): Html | string {
  if (repositories.length === 0) return '-'
  const more = repositories.length - maxRepositories
  const links = repositories.slice(0, maxRepositories).map((name, index) => {
    const query = queryOf({ of: 'repository', name, namespace })
    return html`${index > 0 && ', '}<a href="/access?${query}">${whole(shortText(name, 140))}</a>`
  })
  return html`${links}${more > 0 && html` and ${more} more`}`
}

function deliveryCell(life: TokenLife, namespace: string | undefined): Html | string {
  const delivered = deliveriesOf(life)
  if (delivered === undefined) return 'none'
  const { last, times, sequence } = delivered
  return html`${entryLink(sequence, namespace, timeOfDay(last))}${times > 1 && ` (${times} times)`}`
}
