// Finalizers of our kinds: the platform's own are removed when it has cleaned up outside the cluster (tokens revoked, builds
// deleted), and one of another controller would keep an object, and with it the tenant's namespace, for ever.
import { domain } from '../../../api/kind.ts'
import { kinds } from '../../../api/registry.ts'
import { type JsonObject, listAt, objectAt } from '../../../lib/json/json-value.ts'
import { celList, celText, type Rule } from '../../rule.ts'
import { isPlatform, isPlatformExpression, reaping } from './writers.ts'

const ours = `${domain}/`

const message = `only the platform adds finalizers to its kinds, and removes those that begin with ${ours}: delete the object, and it removes them when it has cleaned up`

function finalizersOf(object: JsonObject | undefined): readonly unknown[] {
  return listAt(objectAt(object, 'metadata'), 'finalizers')
}

/** Others may remove foreign finalizers only; the platform, Kubernetes' reapers and platform admins write all. */
export const kindFinalizers: Rule = {
  name: 'kind-finalizers',
  stops: 'skipping the clean-up of a deleted object, or keeping one for ever so that the tenant cannot be deleted',
  scope: 'everywhere',
  administratorsMay: true,
  exempts: reaping,
  matches: kinds.map(({ group, plural }) => ({ group, resources: [plural], operations: ['CREATE', 'UPDATE'] })),
  check(request, identities) {
    if (isPlatform(request, identities) || identities.reapers.includes(request.username)) return undefined
    const after = finalizersOf(request.object)
    const before = finalizersOf(request.oldObject)
    const added = after.some(finalizer => !before.includes(finalizer))
    const removed = before.some(finalizer => String(finalizer).startsWith(ours) && !after.includes(finalizer))
    return added || removed ? message : undefined
  },
  policy: identities => ({
    variables: [
      { name: 'after', expression: 'dyn(object).metadata.?finalizers.orValue([])' },
      { name: 'before', expression: 'oldObject == null ? [] : dyn(oldObject).metadata.?finalizers.orValue([])' },
    ],
    validation: {
      expression: [
        `${isPlatformExpression(identities)} || request.userInfo.username in ${celList(identities.reapers)}`,
        ` || (variables.after.all(f, f in variables.before) && variables.before.all(f, !f.startsWith(${celText(ours)}) || f in variables.after))`,
      ].join(''),
      message,
    },
  }),
}
