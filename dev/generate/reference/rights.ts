// docs/reference/rights.md: what each process of the platform may do in the cluster, and which file of src needs it. From
// src/api/rights.
import { platformServiceAccount } from '../../../src/api/names.ts'
import { type Place, type PlatformAccount, platformAccounts, type Right } from '../../../src/api/rights/index.ts'
import { code, page, table } from '../markdown.ts'

const places: Readonly<Record<Place, string>> = {
  cluster: 'whole cluster',
  application: 'namespaces of tenants',
  build: 'build namespaces of tenants',
  platform: '`sekisho-system`',
  data: '`sekisho-data`',
  default: '`default`',
}

const order: readonly Place[] = ['cluster', 'application', 'build', 'platform', 'data', 'default']

const standalone = platformServiceAccount('standalone', 'controllers')
const production = platformAccounts.filter(({ mode }) => mode === 'production')

const introduction = `In the standalone form \`${standalone}\` has the rights of all ServiceAccounts.

The rights in namespaces of tenants come from RoleBindings that the Tenant controller makes there; no ServiceAccount has them in the whole cluster. The
policies \`sekisho-own-writes\`, \`sekisho-own-namespaces\` and \`sekisho-own-role-bindings\` refuse every other write by these ServiceAccounts,
whatever RBAC allows ([ADR 0027](../adr/0027-our-own-identities.md)). Secrets with keys of GitHub Apps are named one by one; for a key with another
name an admin gives the right ([install.md](../guide/install.md)).`

/** The page as Markdown. */
export function rightsPage(): string {
  return page({
    title: 'Rights of the platform in the cluster',
    subject: 'This page lists what each ServiceAccount of the platform may do, where, and which file of the source needs it.',
    source: '`src/api/rights`',
    sections: [introduction, ...production.flatMap(account => [`## \`${account.name}\``, rightsTable(account)])],
  })
}

function rightsTable({ rights }: PlatformAccount): string {
  const sorted = [...rights].sort((a, b) => order.indexOf(a.place) - order.indexOf(b.place))
  return table(
    ['where', 'verbs', 'on', 'needed by'],
    sorted.map(right => [whereOf(right), right.verbs.join(', '), whatOf(right), right.usedBy.map(code).join(', ')]),
  )
}

function whereOf({ place, within }: Right): string {
  if (within === undefined) return places[place]
  return `${within.map(where => places[where]).join(' and ')} (RBAC: ${places[place]}; held by policy)`
}

function whatOf({ group, resources, names, namePrefix }: Right): string {
  const what = resources.map(resource => code(group === '' ? resource : `${group}/${resource}`)).join(', ')
  if (namePrefix !== undefined) return `${what} named ${code(`${namePrefix}…`)} (reads: RBAC of any name; writes: held by policy)`
  return names === undefined ? what : `${what} named ${names.map(code).join(', ')}`
}
