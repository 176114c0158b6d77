// The first page: who is signed in, in which tenants they have a role, how to use kubectl. Pure.

import type { Halt } from '../../api/github/halt.ts'
import { type Html, html } from '../../web/html.ts'
import type { HeldTenant } from '../people/tenant-access.ts'
import type { Person } from '../sessions.ts'
import { page } from './layout.ts'
import { stateOfTenant } from './state/tenant-state.ts'
import { table, whole } from './table.ts'

/** For a person who is not signed in. */
export function welcomePage(): Html {
  return page({
    title: 'Welcome',
    body: html`<p>Push to GitHub, get a URL. Access comes from your GitHub organisation and its teams.</p>
<p><a class="button" href="/login">Sign in with GitHub</a></p>`,
  })
}

/** Commands to copy. Every value in them is the platform's own. */
export function kubectlSteps(issuer: string, namespace: string): Html {
  return html`<p>Sign in once on your computer; after that, kubectl gets its tokens by itself. The command <code>sekisho</code> comes from a checkout of the
platform's repository, which the operator names: <code>make command-line</code> builds it, and it is <code>bin/sekisho</code> there.</p>
<pre>sekisho login --issuer ${issuer}
sekisho kubeconfig --namespace ${namespace}
kubectl get applications</pre>
<p class="fine">When the certificate of this page is from an authority of your company, add <code>--ca-file ca.crt</code> to the first command, with the certificate of that authority.</p>`
}

/** A tenant of the person, and the Halt that holds for it. */
export type ShownTenant = HeldTenant & { readonly halt?: Halt | undefined }

function tenantRow({ tenant, role, halt }: ShownTenant) {
  const { metadata, spec } = tenant
  return [
    html`<a href="/tenants/${spec.namespace}">${whole(metadata.name)}</a>`,
    whole(spec.account.login),
    role,
    stateOfTenant(tenant, halt).cell(),
  ]
}

/** For platform admins, and for auditors of the platform, who only read. */
function platformSection(issuer: string, platformAdmin: boolean): Html {
  const pages = html`<a href="/tenants">all tenants</a>, <a href="/audit">audit log</a>, <a href="/access">who could and who did</a>, <a href="/tokens">live tokens</a>`
  const office = platformAdmin
    ? html`You are a platform admin: <a href="/onboardings">onboardings to decide</a>, ${pages}.`
    : html`You are an auditor of the platform: ${pages}; on the command line <code>sekisho login --issuer ${issuer}</code>, then <code>sekisho audit list</code>.`
  return html`<h2>Platform</h2><p>${office}</p>`
}

/** `held` in the order in which it is shown. */
export function homePage(options: {
  readonly person: Person
  readonly held: readonly ShownTenant[]
  readonly issuer: string
  readonly platformAdmin: boolean
  /** Reads the whole audit log. */
  readonly auditor: boolean
}): Html {
  const { person, held, issuer, platformAdmin, auditor } = options
  const [first] = held
  const list =
    first === undefined
      ? html`<p>You have no role in any tenant yet. If you own an organisation on GitHub, <a href="/onboard">onboard it here</a>;
otherwise ask an owner of your organisation to onboard it, or to give your team a role.</p>`
      : html`${table({
          caption: 'The name leads to everything of the tenant.',
          columns: ['Tenant', 'GitHub account', 'Your role', 'State'],
          rows: held.map(tenantRow),
        })}<h2>kubectl</h2>
${kubectlSteps(issuer, first.tenant.spec.namespace)}`
  return page({
    title: 'Your tenants',
    person,
    body: html`<p class="fine">You are <code>${person.subject}</code>. <a href="/logout">Sign out everywhere</a></p>${list}
${platformAdmin || auditor ? platformSection(issuer, platformAdmin) : undefined}`,
  })
}
