// The part of a tenant's page about who answers for its binding: other owners are asked to stand in while the one who bound the
// account is there, and may take over what somebody stands in for. For admins of an organisation's tenant. Pure.
import type { Installation } from '../../../api/github/installation.ts'
import { type Html, html } from '../../../web/html.ts'
import { installationName } from '../../onboarding/desired.ts'
import { bindingDigest, bindingsOf, bindingsWithout, isOwnerLost } from '../../owners/stand-in-checks.ts'
import type { Person } from '../../sessions.ts'
import type { TenantView } from '../../tenants/visible-tenants.ts'
import { formSecret } from '../layout.ts'
import { repositoriesText } from '../onboard.ts'
import { shortText, time } from '../table.ts'
import { tenantPath } from './sections.ts'

/** What the ceiling of onboarding allows, which who stands in confirms; those of other Apps are within it. */
function ceilingText({ spec: { ceiling } }: Installation): string {
  const permissions = Object.entries(ceiling.permissions).map(([name, level]) => `${name}: ${level}`)
  return `${repositoriesText(ceiling)} with ${permissions.length === 0 ? 'no permission' : permissions.join(', ')}`
}

type People = ReadonlyMap<number, { readonly login: string; readonly since: string }>

/** Everybody who stands in for one of the bindings, each once. */
function standingIn(bindings: readonly Installation[]): People {
  const all = bindings.flatMap(({ spec }) => spec.standIns ?? [])
  return new Map(all.map(({ id, login, proof }) => [id, { login, since: proof.provedAt }]))
}

function withdrawForms(person: Person, namespace: string, people: People): Html {
  const rows = [...people].map(
    ([id, { login, since }]) =>
      html`<li><form method="post" action="${tenantPath(namespace)}/stand-in/withdraw">${formSecret(person)}<input type="hidden" name="person" value="${String(id)}">${shortText(login)}, since ${time(since, 'sentence')} <button>Withdraw ${shortText(login)}</button></form></li>`,
  )
  return html`<p>Stand in for the binding:</p><ul>${rows}</ul>`
}

function standInForm(person: Person, { tenant }: TenantView, bindings: readonly Installation[], named: Installation): Html {
  const { account, namespace } = tenant.spec
  const { login } = named.spec.boundBy
  return html`<form method="post" action="${tenantPath(namespace)}/stand-in">${formSecret(person)}<input type="hidden" name="shown" value="${bindingDigest(bindings)}"><p>${login} bound ${account.login} here. When ${login} no longer owns it and nobody stands in, every grant stops until another owner takes over. An owner who stands in confirms what grants may reach at most: ${ceilingText(named)}. <button>Stand in for ${login}</button></p></form>`
}

/** Who stands in, with the form of an owner who does not yet. Who owns the account is asked of GitHub when it is pressed. */
export function standInsPart(person: Person, view: TenantView): Html | undefined {
  const { tenant, role, installations = [] } = view
  const bindings = bindingsOf(tenant, installations)
  const named = bindings.find(({ metadata }) => metadata.name === installationName)
  if (role !== 'admin' || named === undefined || tenant.spec.account.type !== 'Organization') return undefined
  const people = standingIn(bindings)
  const asks = !bindings.some(isOwnerLost) && bindingsWithout(bindings, person.userId).length > 0
  return html`${asks ? standInForm(person, view, bindings, named) : undefined}${people.size > 0 ? withdrawForms(person, tenant.spec.namespace, people) : undefined}`
}

/** For owners, when the one who bound the account is none any more: at once where nobody stands in, and else when they like. */
export function takeOverForm(person: Person, { tenant, role, installations = [] }: TenantView): Html | undefined {
  const { account, namespace } = tenant.spec
  const named = installations.find(({ metadata }) => metadata.name === installationName)
  const standIn = named?.status?.standIn
  if (role !== 'admin' || named === undefined || (!isOwnerLost(named) && standIn === undefined)) return undefined
  const why = isOwnerLost(named)
    ? html`An owner of ${account.login} puts this right:`
    : html`${standIn?.login} stands in for ${named.spec.boundBy.login}, who does not own ${account.login} any more. Another owner binds it anew when they like:`
  return html`<form method="post" action="${tenantPath(namespace)}/binding">${formSecret(person)}<p>${why} <button>Take over the binding</button></p></form>`
}
