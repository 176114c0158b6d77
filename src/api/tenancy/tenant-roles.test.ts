// The roles of tenants and of platform admins. The closed roles stay closed: nothing by wildcard, nothing that discloses a
// token or another identity, and of our kinds what they declare.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { tenantRoles } from '../names.ts'
import { kinds } from '../registry.ts'
import { auditorRules, tenantAuditorRules } from './auditor-roles.ts'
import { type RoleRule, tenantRoleRules } from './tenant-roles.ts'

const rolesByName = tenantRoleRules()
const ofAuditors = ['installations', 'repositorygrants', 'grantapprovals', 'grantpolicies', 'halts', 'previewapprovals']
const rights = (rules: readonly RoleRule[] | undefined): readonly string[] =>
  (rules ?? []).flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap(group => resources.flatMap(resource => verbs.map(verb => `${verb} ${resource}.${group}`))),
  )

test('there is a role for every name, and an admin has the rights of a developer, halts, writes policies, approves, and reads the audit log', () => {
  expect([...rolesByName.keys()]).toEqual(Object.values(tenantRoles))
  const admin = new Set(rights(rolesByName.get(tenantRoles.admin)))
  const developer = new Set(rights(rolesByName.get(tenantRoles.developer)))
  expect([...developer.difference(admin)]).toEqual([])
  const verbs = ['create', 'update', 'patch']
  const halting = verbs.map(verb => `${verb} halts.github.sekisho.dev`)
  const policies = [...verbs, 'delete'].map(verb => `${verb} grantpolicies.github.sekisho.dev`)
  const approving = ['create', 'delete'].map(verb => `${verb} grantapprovals.github.sekisho.dev`)
  expect([...admin.difference(developer)]).toEqual([
    ...approving,
    ...policies,
    ...halting,
    'approve repositorygrants.github.sekisho.dev',
    'list auditentries.sekisho.dev',
  ])
})

describe.each([...rolesByName])('%s', (name, rules) => {
  const granted = rights(rules)
  const auditor = name === tenantRoles.auditor
  const viewer = auditor || name === tenantRoles.viewer

  test('names every resource and verb once', () => {
    expect(granted.filter(right => right.includes('*'))).toEqual([])
    expect(new Set(granted).size).toBe(granted.length)
  })

  test('only reads as a viewer or auditor', () => {
    if (viewer) expect(granted.filter(right => !/^(get|list|watch) /.test(right))).toEqual([])
  })

  test('creates and updates Secrets at most', () => {
    expect(granted.filter(right => / secrets[./]/.test(right))).toEqual(viewer ? [] : ['create secrets.', 'update secrets.'])
  })

  test('runs commands in pods at most as a developer', () => {
    for (const subresource of ['pods/exec', 'pods/attach'])
      expect(granted.filter(right => right.includes(subresource))).toEqual(
        viewer ? [] : [`get ${subresource}.`, `create ${subresource}.`],
      )
  })

  test.each([
    /pods\/(portforward|proxy|ephemeralcontainers)|services\/proxy/,
    /serviceaccounts\/token|(impersonate|bind|escalate) |roles|rolebindings/,
    /^(create|update|patch|delete|deletecollection) (ingresses|namespaces|resourcequotas|limitranges|networkpolicies|installations)\./,
    /^(update|patch) repositorygrants\./,
    /\/status\.(apps|github|tenancy)\.sekisho\.dev/,
  ])('does not contain %s', forbidden => {
    expect(granted.filter(right => forbidden.test(right))).toEqual([])
  })

  test('grants on our kinds what they declare, and nothing on kinds of the whole cluster', () => {
    for (const kind of kinds) {
      if (!kind.namespaced) expect(kind.options.tenantAccess, kind.plural).toBeUndefined()
      const ending = ` ${kind.plural}.${kind.group}`
      const isApproval = name === tenantRoles.admin && kind.plural === 'repositorygrants'
      const verbs = [...verbsOf(name, kind), ...(isApproval ? ['approve'] : [])].map(verb => verb + ending)
      expect(granted.filter(right => right.endsWith(ending)).sort()).toEqual(verbs.sort())
    }
  })
})

function verbsOf(role: string, { plural, options: { tenantAccess } }: (typeof kinds)[number]): readonly string[] {
  if (tenantAccess === undefined || (role === tenantRoles.auditor && !ofAuditors.includes(plural))) return []
  const changes = {
    read: [],
    'create-delete': ['create', 'delete'],
    'create-change-by-admin': role === tenantRoles.admin ? ['create', 'update', 'patch'] : [],
    'create-delete-by-admin': role === tenantRoles.admin ? ['create', 'delete'] : [],
    'write-by-admin': role === tenantRoles.admin ? ['create', 'update', 'patch', 'delete'] : [],
    write: ['create', 'update', 'patch', 'delete'],
  }
  const reads = role === tenantRoles.auditor || role === tenantRoles.viewer
  return ['get', 'list', 'watch', ...(reads ? [] : changes[tenantAccess])]
}

test('an auditor reads what decides about access and the log, and nothing of applications', () => {
  const reads = (plurals: readonly string[]) =>
    plurals.flatMap(plural => ['get', 'list', 'watch'].map(verb => `${verb} ${plural}`))
  const own = reads([
    'installations.github',
    'repositorygrants.github',
    'grantapprovals.github',
    'grantpolicies.github',
    'halts.github',
    'previewapprovals.apps',
  ])
  const log = 'list auditentries.sekisho.dev'
  expect(rights(tenantAuditorRules)).toEqual([log, ...own.map(right => `${right}.sekisho.dev`)])
  const others = reads([
    'tenants.tenancy',
    'domainclaims.tenancy',
    'clustergithubapps.github',
    'clustergrantpolicies.github',
  ]).map(right => `${right}.sekisho.dev`)
  const rest = new Set(rights(auditorRules)).difference(new Set(rights(tenantAuditorRules)))
  expect([...rest]).toEqual([...others, 'get configmaps.'])
  const maps = auditorRules.filter(({ resources }) => resources.includes('configmaps'))
  expect(maps.map(({ resourceNames }) => resourceNames)).toEqual([['sekisho-audit-checkpoints']])
})

test('platform admins may read every kind', () => {
  const file = join(import.meta.dirname, '../../../deploy/rbac/platform-admin.yaml')
  const documents = parseAllDocuments(readFileSync(file, 'utf8')).map(document => document.toJS() as ClusterRoleDocument)
  const role = documents.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'sekisho:platform-admin')
  const readable = rights(role?.rules)
  for (const { group, plural } of kinds) expect(readable).toContain(`list ${plural}.${group}`)
})

type ClusterRoleDocument = {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly rules?: readonly RoleRule[]
}
