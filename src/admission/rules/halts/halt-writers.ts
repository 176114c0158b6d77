// A Halt ends by being lifted and not by being deleted, so that who lifted it is a record: the platform deletes it afterwards.
// Nor does it get an owner, with which the garbage collector would delete it.
// Who may create and lift one is RBAC: admins of a tenant in its namespace, platform admins in theirs.
import { halt } from '../../../api/github/halt.ts'
import { objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, type Rule } from '../../rule.ts'
import { reaping } from '../kinds/writers.ts'

const message =
  'a Halt is not deleted, also not with an owner (ownerReferences): lift it with sekisho resume, or set spec.lifted with a reason and your own user name in by (kubectl auth whoami); one that is created is not lifted yet'

/** The garbage collector would delete it with them, and nobody would have ended it. */
function addsOwner({ object, oldObject }: AdmissionRequest): boolean {
  const ownersOf = (one: AdmissionRequest['object']) =>
    objectsAt(objectAt(one, 'metadata'), 'ownerReferences').map(owner => textAt(owner, 'uid'))
  const before = ownersOf(oldObject)
  return ownersOf(object).some(uid => !before.includes(uid))
}

const owners = (object: string): string =>
  `${object} == null ? [] : dyn(${object}).metadata.?ownerReferences.orValue([]).map(owner, owner.uid)`

const liftedIn = (object: AdmissionRequest['object']) => objectAt(object, 'spec', 'lifted')

/** Controllers delete what was lifted; Kubernetes' reapers delete with the namespace. */
export const haltWriters: Rule = {
  name: 'halt-writers',
  stops: 'ending a Halt without a record of who ended it, or in the name of somebody else',
  scope: 'everywhere',
  exempts: reaping,
  matches: [{ group: halt.group, resources: [halt.plural], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
  check(request, { controllers, reapers }) {
    const { operation, username, object, oldObject } = request
    if (operation === 'DELETE') return [...controllers, ...reapers].includes(username) ? undefined : message
    if (addsOwner(request)) return message
    const lifted = liftedIn(object)
    if (lifted === undefined || (operation === 'UPDATE' && liftedIn(oldObject) !== undefined)) return undefined
    return operation === 'UPDATE' && textAt(lifted, 'by') === username ? undefined : message
  },
  policy: ({ controllers, reapers }) => ({
    variables: [
      { name: 'by', expression: "object == null ? '' : object.spec.?lifted.?by.orValue('')" },
      { name: 'before', expression: "oldObject == null ? '' : oldObject.spec.?lifted.?by.orValue('')" },
      { name: 'owners', expression: owners('object') },
      { name: 'ownersBefore', expression: owners('oldObject') },
    ],
    validation: {
      expression: [
        `request.operation == 'DELETE' ? request.userInfo.username in ${celList([...controllers, ...reapers])}`,
        " : variables.owners.all(owner, owner in variables.ownersBefore) && (variables.by == '' || (request.operation == 'UPDATE' && (variables.before != '' || variables.by == request.userInfo.username)))",
      ].join(''),
      message,
    },
  }),
}
