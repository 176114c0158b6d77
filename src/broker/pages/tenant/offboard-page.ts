// `/tenants/:namespace/offboard`: what ends with a tenant, and the form in which its owner types the name to end it. Pure.
// Nothing is filled in beforehand.
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import { type Html, html } from '../../../web/html.ts'
import type { Ending } from '../../owners/offboard.ts'
import type { Person } from '../../sessions.ts'
import type { Bounded } from '../../tenants/bounded.ts'
import { formSecret, page } from '../layout.ts'
import { facts, shortText, whole } from '../table.ts'
import { tenantPath } from './sections.ts'

/** `lock`: why it cannot be ended now. */
type Options = {
  readonly person: Person
  readonly tenant: Tenant
  readonly ending: Ending
  readonly lock: string | undefined
}

function listOf<T>({ items, more }: Bounded<T>, cell: (item: T) => Html): Html | string {
  if (items.length === 0) return 'none'
  return html`<ul>${items.map(item => html`<li>${cell(item)}</li>`)}${more && html`<li>and more</li>`}</ul>`
}

function form({ person, tenant }: Options): Html {
  const { name, uid = '' } = tenant.metadata
  return html`<form method="post" action="${tenantPath(tenant.spec.namespace)}/offboard">${formSecret(person)}<input type="hidden" name="uid" value="${uid}">
<p><label>Type the name of the tenant, <strong>${name}</strong>, to end it
<input type="text" name="name" required maxlength="63" autocomplete="off" autocapitalize="off" spellcheck="false"></label></p>
<button>End the tenant for ever</button></form>`
}

/** The page. */
export function offboardPage(options: Options): Html {
  const { person, tenant, ending, lock } = options
  const { account, namespace } = tenant.spec
  const { count, more } = ending.tokens
  const rows = [
    ['Applications', listOf(ending.applications, name => whole(name))],
    ['Volumes with their content', listOf(ending.volumes, one => html`${whole(`${one.application}/${one.name}`)} (${one.size})`)],
    ['Grants', listOf(ending.grants, name => whole(name))],
    ['Live tokens of GitHub', more ? `${count} or more` : String(count)],
    ['Roles', 'of everybody, in the namespace and on these pages'],
    [
      'Everything else in the namespace',
      html`<code>${namespace}</code> and <code>${namespace}-build</code>: secrets, releases, logs of builds, images`,
    ],
  ] as const
  return page({
    title: `End the tenant ${tenant.metadata.name}`,
    person,
    body: html`<p><a href="${tenantPath(namespace)}">Everything of this tenant</a></p>
<p>This ends what ${account.login} has on this platform. It cannot be undone, and nobody keeps a copy. Repositories on GitHub stay as they are, and so
does the App: uninstall it on GitHub. The audit log keeps what happened, with your name.</p>
${facts(rows, 'What ends at once.')}
${lock === undefined ? form(options) : html`<p role="alert">${shortText(lock)}.</p>`}`,
  })
}
