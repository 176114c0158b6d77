// Holds our own identities to the writes that their lists of rights name, in the places that they name: even where RBAC allows
// more, because a role was bound too widely or a right is needed cluster-wide. Only as a policy: what we may do must not depend
// on a process of ours.
import { labels, platformNamespace } from '../../../api/names.ts'
import { type Place, type Right, writingVerbs } from '../../../api/rights/index.ts'
import type { PlatformIdentities } from '../../identities.ts'
import { celList, celText, type PolicyRule } from '../../rule.ts'

const operations = { create: 'CREATE', patch: 'UPDATE', delete: 'DELETE' } as const

/** `<place> <operation> <group>/<resource>[/<subresource>]`, and the name, or what it begins with, where a right has them. */
function writesOf({ place, within = [place], group, resources, names, namePrefix = '', verbs }: Right): readonly string[] {
  return verbs
    .filter(verb => writingVerbs.has(verb))
    .flatMap(verb =>
      within.flatMap(where =>
        resources.flatMap(resource =>
          (names ?? [namePrefix]).map(name =>
            `${where} ${operations[verb as keyof typeof operations]} ${group}/${resource} ${name}`.trimEnd(),
          ),
        ),
      ),
    )
}

function allowedWrites(rights: readonly Right[]): readonly string[] {
  return [...new Set(rights.flatMap(writesOf))].sort()
}

const hasPrefix = ({ namePrefix }: Right): boolean => namePrefix !== undefined

function place(name: Place | 'elsewhere'): string {
  return celText(name)
}

/** Where a request writes; `elsewhere` is in no list. The labels of a namespace before the request say whose it is. */
const variables = [
  { name: 'isNamespace', expression: "request.resource.group == '' && request.resource.resource == 'namespaces'" },
  { name: 'where', expression: "has(request.namespace) ? request.namespace : ''" },
  {
    name: 'labels',
    expression:
      'variables.isNamespace ? (oldObject == null ? {} : dyn(oldObject).metadata.?labels.orValue({})) : (namespaceObject == null ? {} : dyn(namespaceObject).metadata.?labels.orValue({}))',
  },
  {
    name: 'ofTenant',
    expression: `!(${celText(labels.tenant)} in variables.labels) ? ${place('elsewhere')} : variables.labels[?${celText(labels.namespacePurpose)}].orValue('') == 'build' ? ${place('build')} : ${place('application')}`,
  },
  {
    name: 'place',
    expression: [
      `variables.isNamespace ? (request.operation == 'CREATE' ? ${place('cluster')} : variables.ofTenant)`,
      `variables.where == '' ? ${place('cluster')}`,
      `variables.where == ${celText(platformNamespace)} ? ${place('platform')}`,
      `variables.where == 'default' ? ${place('default')} : variables.ofTenant`,
    ].join(' : '),
  },
  {
    name: 'name',
    expression:
      "has(request.name) && request.name != '' ? request.name : (object == null ? '' : dyn(object).metadata.?name.orValue(''))",
  },
  {
    name: 'write',
    expression:
      "variables.place + ' ' + request.operation + ' ' + request.resource.group + '/' + request.resource.resource + (has(request.subResource) && request.subResource != '' ? '/' + request.subResource : '')",
  },
]

type Variable = { readonly name: string; readonly expression: string }

/** The list of the user who asks. */
function listVariable(name: string, { accounts }: PlatformIdentities, of: (right: Right) => boolean): Variable {
  const entries = accounts.map(({ username, rights }) => `${celText(username)}: ${celList(allowedWrites(rights.filter(of)))}`)
  return { name, expression: `{${entries.join(', ')}}[request.userInfo.username]` }
}

/** No process of the platform writes what its list does not name, anywhere. */
export const ownWrites: PolicyRule = {
  name: 'own-writes',
  stops:
    'a process of ours that was taken over: writing outside of tenants’ namespaces and sekisho-system, running commands in pods, making tokens, roles or workloads of others',
  scope: 'everywhere',
  users: ({ accounts }) => accounts.map(({ username }) => username),
  matches: [{ group: '*', resources: ['*/*'], operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] }],
  policy: identities => ({
    variables: [
      ...variables,
      listVariable('allowed', identities, right => !hasPrefix(right)),
      listVariable('allowedPrefixes', identities, hasPrefix),
    ],
    validation: {
      expression: [
        "[variables.write, variables.write + ' ' + variables.name].exists(write, write in variables.allowed)",
        "variables.allowedPrefixes.exists(prefix, (variables.write + ' ' + variables.name).startsWith(prefix))",
      ].join(' || '),
      messageExpression:
        "'no process of the platform needs this right: ' + variables.write + ' ' + variables.name + ' (docs/reference/rights.md lists what ' + request.userInfo.username + ' may write)'",
    },
  }),
}
