// The Applications, RemoteSyncs and services that another object owns are written by the platform, from that object. What
// a person adds to a preview, say, would reach the code of a pull request, which may come from a fork, and no template, policy or
// review would show it.
import { application } from '../../../api/apps/application.ts'
import { remoteSync } from '../../../api/apps/remote-sync.ts'
import { ownerKinds } from '../../../api/registry.ts'
import { bucket } from '../../../api/services/bucket.ts'
import { serviceInstance } from '../../../api/services/service-instance.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { Rule } from '../../rule.ts'
import { isControlledBy, isControlledByExpression } from '../owner-kinds.ts'
import { isKubernetes, isKubernetesExpression, isPlatform, isPlatformExpression } from './writers.ts'

const owners = ownerKinds.map(({ kind, options: { ownsApplications } }) => ({ kind, ...ownsApplications }))
const message = `the platform writes the Applications, RemoteSyncs, ServiceInstances and Buckets of ${owners.map(({ noun }) => `${noun}s`).join(' and ')}: change ${owners.map(({ kind, setBy }) => `${setBy} of the ${kind}`).join(' or ')} that owns it`

/** Others may delete what is owned, which is made again, and change labels and annotations of their own. */
export const ownedWriters: Rule = {
  name: 'owned-writers',
  stops: 'giving the code of a pull request secrets or rights that the template of its AppPipeline does not have',
  scope: 'everywhere',
  administratorsMay: true,
  exempts: {
    kubernetesPrefixes: { does: 'changes owners and finalizers while a namespace or an owner ends', follows: [] },
  },
  matches: [
    { group: application.group, resources: [application.plural, remoteSync.plural], operations: ['UPDATE'] },
    { group: serviceInstance.group, resources: [serviceInstance.plural, bucket.plural], operations: ['UPDATE'] },
  ],
  check(request, identities) {
    if (isPlatform(request, identities) || isKubernetes(request, identities)) return undefined
    if (!isControlledBy(ownerKinds, request.oldObject)) return undefined
    return sameJson(request.object?.['spec'], request.oldObject?.['spec']) ? undefined : message
  },
  policy: identities => ({
    variables: [{ name: 'owned', expression: isControlledByExpression(ownerKinds, 'dyn(oldObject)') }],
    validation: {
      expression: `${isPlatformExpression(identities)} || ${isKubernetesExpression(identities)} || !variables.owned || dyn(object).?spec == dyn(oldObject).?spec`,
      message,
    },
  }),
}
