// `spec.requestedBy` is the caller: the controllers later check on GitHub what that person may do, and the audit log names them.
// The one exception: the grant of a RemoteSync is made by the controllers in the name that the RemoteSync carries.
import { remoteSync } from '../../api/apps/remote-sync.ts'
import { repositoryGrant } from '../../api/github/repository-grant.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import type { PlatformIdentities } from '../identities.ts'
import { type AdmissionRequest, objectAt, objectsIn, textIn } from '../review.ts'
import { celList, celText, type Rule } from '../rule.ts'

function isGrantOfRemoteSync({ resource, username, object }: AdmissionRequest, identities: PlatformIdentities): boolean {
  if (resource !== repositoryGrant.plural || !identities.controllers.includes(username)) return false
  return objectsIn(objectAt(object, 'metadata'), 'ownerReferences').some(
    owner =>
      owner['controller'] === true &&
      textIn(owner, 'kind') === remoteSync.kind &&
      textIn(owner, 'apiVersion')?.startsWith(`${remoteSync.group}/`) === true,
  )
}

export const requestedBy: Rule = {
  name: 'requested-by',
  stops: 'asking for access in the name of somebody who has more of it',
  scope: 'everywhere',
  matches: [
    { group: repositoryGrant.group, resources: [repositoryGrant.plural], operations: ['CREATE'] },
    { group: remoteSync.group, resources: [remoteSync.plural], operations: ['CREATE', 'UPDATE'] },
  ],
  check(request, identities) {
    const { operation, object, oldObject, username } = request
    if (operation === 'UPDATE' && sameJson(object?.['spec'], oldObject?.['spec'])) return undefined
    if (isGrantOfRemoteSync(request, identities)) return undefined
    if (textIn(objectAt(object, 'spec'), 'requestedBy') === username) return undefined
    return `spec.requestedBy must be ${username}: whoever creates or changes this asks in the own name (leave the field out)`
  },
  policy: identities => ({
    variables: [
      {
        name: 'unchanged',
        expression: "request.operation == 'UPDATE' && dyn(object).?spec == dyn(oldObject).?spec",
      },
      {
        name: 'grantOfRemoteSync',
        expression: `request.resource.resource == ${celText(repositoryGrant.plural)} && request.userInfo.username in ${celList(identities.controllers)} && dyn(object).metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && o.kind == ${celText(remoteSync.kind)} && o.apiVersion.startsWith(${celText(`${remoteSync.group}/`)}))`,
      },
    ],
    validation: {
      expression:
        "variables.unchanged || variables.grantOfRemoteSync || dyn(object).spec.?requestedBy.orValue('') == request.userInfo.username",
      messageExpression:
        "'spec.requestedBy must be ' + request.userInfo.username + ': whoever creates or changes this asks in the own name'",
    },
  }),
}
