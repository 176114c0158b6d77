// Secrets that make a controller disclose a credential: the type that Kubernetes fills with a ServiceAccount's token, and the annotations by
// which build systems choose a credential.

import { objectAt, textAt } from '../../lib/json/json-value.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { celList, celText, type Rule } from '../rule.ts'

const tokenType = 'kubernetes.io/service-account-token'
/** Prefixes of annotation keys that are reserved for the platform. */
const reservedAnnotations = ['kubernetes.io/service-account.', 'kpack.io/', 'tekton.dev/']

const message = `a Secret in a tenant's namespace must not be of type ${tokenType}, nor carry annotations ${reservedAnnotations.map(prefix => `${prefix}…`).join(', ')}`

/** Only the controllers may write such Secrets; an update that leaves type and annotations alone passes. */
export const secretKinds: Rule = {
  name: 'secret-kinds',
  stops: 'getting a ServiceAccount’s token by a Secret that Kubernetes fills, or steering a build system to another credential',
  scope: 'tenant-namespaces',
  matches: [{ group: '', resources: ['secrets'], operations: ['CREATE', 'UPDATE'] }],
  check({ object, oldObject, operation, username }, identities) {
    if (identities.controllers.includes(username)) return undefined
    const annotations = objectAt(object, 'metadata', 'annotations') ?? {}
    const before = objectAt(oldObject, 'metadata', 'annotations') ?? {}
    const unchanged = operation === 'UPDATE' && sameJson(annotations, before) && object?.['type'] === oldObject?.['type']
    if (unchanged) return undefined
    const reserved = Object.keys(annotations).some(key => reservedAnnotations.some(prefix => key.startsWith(prefix)))
    return textAt(object, 'type') === tokenType || reserved ? message : undefined
  },
  policy: identities => ({
    variables: [
      { name: 'annotations', expression: 'dyn(object).metadata.?annotations.orValue({})' },
      {
        name: 'unchanged',
        expression:
          "request.operation == 'UPDATE' && variables.annotations == dyn(oldObject).metadata.?annotations.orValue({}) && dyn(object).?type == dyn(oldObject).?type",
      },
    ],
    validation: {
      expression: `request.userInfo.username in ${celList(identities.controllers)} || variables.unchanged || (dyn(object).?type.orValue('') != ${celText(tokenType)} && !variables.annotations.exists(key, ${celList(reservedAnnotations)}.exists(prefix, key.startsWith(prefix))))`,
      message,
    },
  }),
}
