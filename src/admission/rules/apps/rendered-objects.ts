// Objects that the platform rendered for an Application. The controllers bring them back to what the Application says within
// seconds: a change by hand would seem to work and be undone without a word, so it is refused with the way that works.
import { application } from '../../../api/apps/application.ts'
import { labels } from '../../../api/names.ts'
import { type JsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celText, type Match, type Rule } from '../../rule.ts'
import { isKubernetes, isKubernetesExpression, isPlatform, isPlatformExpression } from '../kinds/writers.ts'

const changed = ['UPDATE', 'DELETE'] as const

/** A Job may be deleted: that is how a release job is ended. Pods may be, too: another one takes their place. */
const matches: readonly Match[] = [
  { group: 'apps', resources: ['deployments'], operations: changed },
  { group: 'apps', resources: ['deployments/scale', 'replicasets/scale'], operations: ['UPDATE'] },
  { group: '', resources: ['services', 'configmaps', 'serviceaccounts', 'persistentvolumeclaims'], operations: changed },
  { group: 'batch', resources: ['cronjobs'], operations: changed },
  { group: 'batch', resources: ['jobs'], operations: ['UPDATE'] },
  { group: 'autoscaling', resources: ['horizontalpodautoscalers'], operations: changed },
  { group: 'policy', resources: ['poddisruptionbudgets'], operations: changed },
  { group: 'networking.k8s.io', resources: ['ingresses'], operations: changed },
]

const groupPrefix = `${application.group}/`
/** In the selector of a Scale, which has neither labels nor owners. Only the platform can set this label on pods. */
const selectorPrefix = `${labels.application}=`

const before = 'this object belongs to Application '
const after = (name: string): readonly string[] => [
  ', which would undo the change: change the Application instead (kubectl edit application ',
  name,
  '). Pods of its process web: kubectl scale application ',
  name,
  ' --replicas=<n>; restart: set spec.restartedAt; earlier release: set spec.pinnedRelease; removal: take it out of the spec, or delete the Application',
]

function ownerOf(object: JsonObject | undefined): string | undefined {
  const owner = objectsAt(objectAt(object, 'metadata'), 'ownerReferences').find(
    reference =>
      reference['controller'] === true &&
      textAt(reference, 'kind') === application.kind &&
      textAt(reference, 'apiVersion')?.startsWith(groupPrefix) === true,
  )
  return owner && textAt(owner, 'name')
}

function selectedApplication(scale: JsonObject | undefined): string | undefined {
  const parts = textAt(objectAt(scale, 'status'), 'selector')?.split(',') ?? []
  return parts.find(part => part.startsWith(selectorPrefix))?.slice(selectorPrefix.length)
}

function applicationOf({ oldObject, subResource }: AdmissionRequest): string | undefined {
  return subResource === undefined ? ownerOf(oldObject) : selectedApplication(oldObject)
}

/** What decides is the object as it is: whoever takes its owner away changes it, too. */
export const renderedObjects: Rule = {
  name: 'rendered-objects',
  stops: 'a change by hand that seems to work and is silently undone, such as a scaled Deployment or another image in it',
  scope: 'application-namespaces',
  administratorsMay: true,
  exempts: {
    kubernetesPrefixes: {
      does: 'scales, binds and deletes what an Application has, as its objects say',
      follows: [
        {
          template: '`spec.scaleTargetRef` of a HorizontalPodAutoscaler',
          harmless: 'a tenant may scale its Applications, and what their spec says is set again',
        },
      ],
    },
  },
  matches,
  // Kubernetes' controllers must go on while the webhook is down, and the rule never refuses them or the platform.
  webhookCondition: identities => ({
    name: 'not-by-kubernetes-or-the-platform',
    expression: `!(${isPlatformExpression(identities)} || ${isKubernetesExpression(identities)})`,
  }),
  check(request, identities) {
    if (isPlatform(request, identities) || isKubernetes(request, identities)) return undefined
    const name = applicationOf(request)
    return name === undefined ? undefined : [before, name, ...after(name)].join('')
  },
  policy: identities => ({
    variables: [
      {
        name: 'names',
        expression: [
          "has(request.subResource) && request.subResource != ''",
          ` ? dyn(oldObject).?status.?selector.orValue('').split(',').filter(s, s.startsWith(${celText(selectorPrefix)})).map(s, s.substring(${selectorPrefix.length}))`,
          ' : dyn(oldObject).metadata.?ownerReferences.orValue([])',
          `.filter(o, o.?controller.orValue(false) && o.kind == ${celText(application.kind)} && o.apiVersion.startsWith(${celText(groupPrefix)})).map(o, string(o.name))`,
        ].join(''),
      },
    ],
    validation: {
      expression: `${isPlatformExpression(identities)} || ${isKubernetesExpression(identities)} || variables.names.size() == 0`,
      messageExpression: [before, undefined, ...after('').map(part => (part === '' ? undefined : part))]
        .map(part => (part === undefined ? 'variables.names[0]' : celText(part)))
        .join(' + '),
    },
  }),
}
