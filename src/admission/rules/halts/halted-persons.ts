// What a halted person may still do with an ID token that was issued before: nothing that changes something. The token works
// until it expires (10 minutes), and nobody can call it back; but the API server asks these policies about every write, every
// command in a pod and every attach. Reads are not seen by admission: docs/guide/incident.md says what remains.
// Policies only: they read the Halts, which the webhook cannot, and hold while our processes are down.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#parameter-resources
import { grantApproval } from '../../../api/github/grant-approval.ts'
import { halt } from '../../../api/github/halt.ts'
import { domain } from '../../../api/kind.ts'
import { platformNamespace } from '../../../api/names.ts'
import { kinds } from '../../../api/registry.ts'
import { administers, celText, type PolicyRule } from '../../rule.ts'

const operations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const

const person =
  "'github|' + params.spec.target.?person.?host.orValue('') + '|' + string(params.spec.target.?person.?id.orValue(0))"
/** A tenant's admin must not keep a platform admin from lifting what is there. */
const isTenantsOwn = `(params.metadata.namespace != ${celText(platformNamespace)} && ${administers})`

/** The Halt is about no person, or holds for nobody. */
const holdsForNobody =
  "params.spec.target.type != 'Person' || params.spec.?lifted.hasValue() || params.spec.?dryRun.orValue(false)"

const halted: Pick<PolicyRule, 'param' | 'condition' | 'policy'> = {
  param: halt,
  condition: { name: 'people', expression: "request.userInfo.username.startsWith('github|')" },
  policy: () => ({
    variables: [],
    validation: {
      expression: [holdsForNobody, ` || request.userInfo.username != ${person} || ${isTenantsOwn}`].join(''),
      messageExpression:
        "'you are halted by Halt ' + params.metadata.namespace + '/' + params.metadata.name + ': you can change nothing until it is lifted'",
    },
  }),
}

/** In the namespaces of tenants: what people run there, and what they change, by Halts there and by those of the platform. */
export const haltedPersons: PolicyRule = {
  name: 'halted-persons',
  stops: 'changing things, or running commands in pods, with an ID token that was issued before its person was halted',
  scope: 'tenant-namespaces',
  matches: [{ group: '*', resources: ['*/*'], operations, namespacedOnly: true }],
  paramsIn: 'both',
  ...halted,
}

/**
 * Our own kinds everywhere else, by Halts of the platform. Not every resource of the cluster: what matches here depends on the
 * kind Halt being installed.
 */
export const haltedPersonsElsewhere: PolicyRule = {
  name: 'halted-persons-elsewhere',
  stops: 'changing Tenants or Halts with an ID token that was issued before its person was halted',
  scope: 'everywhere',
  matches: [...new Set([domain, ...kinds.map(({ group }) => group)])].map(group => ({ group, resources: ['*/*'], operations })),
  paramsIn: 'platform',
  ...halted,
}

/** What the broker writes for a person who is signed in: the API server sees the name of the broker. */
export const haltedAnswers: PolicyRule = {
  name: 'halted-answers',
  stops: 'answering for a grant on a page in the name of a person who is halted',
  scope: 'tenant-namespaces',
  matches: [{ group: grantApproval.group, resources: [grantApproval.plural], operations: ['CREATE'] }],
  users: ({ brokers }) => brokers,
  param: halt,
  paramsIn: 'both',
  policy: () => ({
    variables: [],
    validation: {
      expression: `${holdsForNobody} || dyn(object).spec.?requestedBy.orValue('') != ${person}`,
      messageExpression:
        "'the person is halted by Halt ' + params.metadata.namespace + '/' + params.metadata.name + ' and answers for nothing until it is lifted'",
    },
  }),
}
