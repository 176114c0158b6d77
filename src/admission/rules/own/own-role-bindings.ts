// Which RoleBindings our own identities make. They may write RoleBindings in every namespace, because they give themselves the
// rights in a tenant's namespace by them; so this says to which roles, for whom, and the policy own-writes says where.
import { labels, namespaceRoles, platformNamespace, tenantRoles } from '../../../api/names.ts'
import { groupPattern, personPattern } from '../../../api/tenancy/subject-patterns.ts'
import type { PlatformIdentities } from '../../identities.ts'
import { celList, celText, type PolicyRule } from '../../rule.ts'

function onlyAccount(usernames: readonly string[]): string {
  const prefix = `system:serviceaccount:${platformNamespace}:`
  const names = usernames.map(name => name.slice(prefix.length))
  return `variables.subjects.size() == 1 && variables.subjects.all(s, s.kind == 'ServiceAccount' && s.?namespace.orValue('') == ${celText(platformNamespace)} && s.name in ${celList(names)})`
}

function expression({ brokers, controllers, dataServices }: PlatformIdentities): string {
  const people = `variables.subjects.all(s, (s.kind == 'User' && s.name.matches(${celText(personPattern)})) || (s.kind == 'Group' && s.name.matches(${celText(groupPattern)})))`
  const [inApplications, inBuilds] = ['application', 'build'].map(purpose => `variables.purpose == ${celText(purpose)}`)
  const cases = [
    `(variables.role in ${celList(Object.values(tenantRoles))} && ${inApplications} && ${people})`,
    `(variables.role == ${celText(namespaceRoles.brokerInApplications)} && ${inApplications} && ${onlyAccount(brokers)})`,
    `(variables.role == ${celText(namespaceRoles.controllersInApplications)} && ${inApplications} && ${onlyAccount(controllers)})`,
    `(variables.role == ${celText(namespaceRoles.controllersInBuilds)} && ${inBuilds} && ${onlyAccount(controllers)})`,
    `(variables.role == ${celText(namespaceRoles.dataServicesInApplications)} && ${inApplications} && ${onlyAccount(dataServices)})`,
  ]
  return `object.roleRef.kind == 'ClusterRole' && (${cases.join(' || ')})`
}

export const ownRoleBindings: PolicyRule = {
  name: 'own-role-bindings',
  stops:
    'a process of ours that was taken over: giving a role of a tenant to somebody who is not a person of GitHub, or one of ours to anybody else',
  scope: 'everywhere',
  users: ({ accounts }) => accounts.map(({ username }) => username),
  matches: [{ group: 'rbac.authorization.k8s.io', resources: ['rolebindings'], operations: ['CREATE', 'UPDATE'] }],
  policy: identities => ({
    variables: [
      { name: 'role', expression: 'object.roleRef.name' },
      { name: 'subjects', expression: 'object.?subjects.orValue([])' },
      {
        name: 'purpose',
        expression: `namespaceObject == null ? '' : dyn(namespaceObject).metadata.?labels.orValue({})[?${celText(labels.namespacePurpose)}].orValue('')`,
      },
    ],
    validation: {
      expression: expression(identities),
      message:
        'the platform binds its closed roles only: those of tenants to people and groups of GitHub, its own to its own ServiceAccounts, in the namespaces that each is for',
    },
  }),
}
