// Links among the pages of the audit log. Pure. The namespace goes with them: whoever reads only there has to name it.
import { type Html, html } from '../../../web/html.ts'
import { queryOf } from './filter-fields.ts'

const pages = [
  ['/audit', 'All entries of the audit log'],
  ['/access', 'Who could reach a repository, and who did'],
  ['/tokens', 'Live tokens'],
] as const

type AuditPath = (typeof pages)[number][0]

/** To the other pages. */
export function auditLinks(here: AuditPath, namespace: string | undefined): Html {
  const others = pages.filter(([path]) => path !== here)
  return html`<p>${others.map(([path, text], index) => html`${index > 0 && ' · '}<a href="${within(path, namespace)}">${text}</a>`)}</p>`
}

/** To one entry, by its number. */
export function entryLink(sequence: number, namespace: string | undefined, text: Html = html`${sequence}`): Html {
  return html`<a href="${within(`/audit/${sequence}`, namespace)}">${text}</a>`
}

function within(path: string, namespace: string | undefined): string {
  const query = queryOf({ namespace })
  return query === '' ? path : `${path}?${query}`
}
