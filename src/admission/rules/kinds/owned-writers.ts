// The Applications and RemoteSyncs of previews are written by the platform, from the template of their AppPipeline. What a person adds to one of
// them would reach the code of a pull request, which may come from a fork, and no template, policy or review would show it.
import { appPipeline } from '../../../api/apps/app-pipeline.ts'
import { application } from '../../../api/apps/application.ts'
import { remoteSync } from '../../../api/apps/remote-sync.ts'
import { type JsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import { celText, type Rule } from '../../rule.ts'
import { isKubernetes, isKubernetesExpression, isPlatform, isPlatformExpression } from './writers.ts'

const message =
  'the platform writes the Applications and RemoteSyncs of previews: change spec.template of the AppPipeline that owns it'

function isOfPipeline(object: JsonObject | undefined): boolean {
  return objectsAt(objectAt(object, 'metadata'), 'ownerReferences').some(
    owner =>
      owner['controller'] === true &&
      textAt(owner, 'kind') === appPipeline.kind &&
      textAt(owner, 'apiVersion')?.startsWith(`${appPipeline.group}/`) === true,
  )
}

const ofPipeline = `dyn(oldObject).metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && o.kind == ${celText(appPipeline.kind)} && o.apiVersion.startsWith(${celText(`${appPipeline.group}/`)}))`

/** Others may delete a preview, which is made again, and change labels and annotations of their own. */
export const previewWriters: Rule = {
  name: 'preview-writers',
  stops: 'giving the code of a pull request secrets or rights that the template of its AppPipeline does not have',
  scope: 'everywhere',
  administratorsMay: true,
  exempts: {
    kubernetesPrefixes: { does: 'changes owners and finalizers while a namespace or an AppPipeline ends', follows: [] },
  },
  matches: [{ group: application.group, resources: [application.plural, remoteSync.plural], operations: ['UPDATE'] }],
  check(request, identities) {
    if (isPlatform(request, identities) || isKubernetes(request, identities) || !isOfPipeline(request.oldObject)) return undefined
    return sameJson(request.object?.['spec'], request.oldObject?.['spec']) ? undefined : message
  },
  policy: identities => ({
    variables: [{ name: 'ofPipeline', expression: ofPipeline }],
    validation: {
      expression: `${isPlatformExpression(identities)} || ${isKubernetesExpression(identities)} || !variables.ofPipeline || dyn(object).?spec == dyn(oldObject).?spec`,
      message,
    },
  }),
}
