// Labels, annotations and owners by which the platform recognises its own objects. Its caches select by them, so a tenant who
// could set them could fill the memory of the controllers; its garbage is collected by owners, so a foreign owner could delete
// objects. Pod templates are included: Kubernetes' controllers copy their metadata to pods, and what those controllers write is
// not examined again. Templates of claims are judged by the rule claim-templates, and a claim is examined whoever makes it.
import { application } from '../../../api/apps/application.ts'
import { domain } from '../../../api/kind.ts'
import { changedByAnnotation, isReservedKey } from '../../../api/names.ts'
import { kinds } from '../../../api/registry.ts'
import { type JsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { PlatformIdentities } from '../../identities.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celText, type Match, type Rule } from '../../rule.ts'
import { isKubernetes, isKubernetesExpression, isPlatform, isPlatformExpression } from '../kinds/writers.ts'
import { reservedKeyExpression } from './reserved-keys.ts'

const message = `labels, annotations and owners of ${domain} belong to the platform: remove or keep keys that begin with ${domain}/ (or contain .${domain}/) and ownerReferences to its kinds; what was rendered for an Application is changed through the Application: kubectl edit application, sekisho rollback`

/** Where an object has labels and annotations: its own, and those of the templates in it. */
const metadataPaths: readonly (readonly string[])[] = [
  ['metadata'],
  ['template', 'metadata'],
  ['spec', 'template', 'metadata'],
  ['spec', 'jobTemplate', 'metadata'],
  ['spec', 'jobTemplate', 'spec', 'template', 'metadata'],
]
const fields = ['labels', 'annotations']
const mapPaths = metadataPaths.flatMap(path => fields.map(field => [...path, field]))
/** The index of `metadata.annotations`. */
const ownAnnotations = 1

/** Every kind that the roles of tenants let them write (reserved-metadata.test.ts), and those that are made from these. */
const matches: readonly Match[] = [
  [
    '',
    [
      'pods',
      'services',
      'serviceaccounts',
      'configmaps',
      'secrets',
      'persistentvolumeclaims',
      'replicationcontrollers',
      'podtemplates',
    ],
  ],
  ['apps', ['deployments', 'replicasets', 'statefulsets', 'daemonsets']],
  ['batch', ['jobs', 'cronjobs']],
  ['autoscaling', ['horizontalpodautoscalers']],
  ['policy', ['poddisruptionbudgets']],
  ['networking.k8s.io', ['ingresses', 'networkpolicies']],
  ...[...new Set(kinds.map(({ group }) => group))].map(
    group => [group, kinds.filter(kind => kind.namespaced && kind.group === group).map(({ plural }) => plural)] as const,
  ),
].flatMap(([group, resources]) =>
  resources.length === 0
    ? []
    : [{ group: String(group), resources: resources as string[], operations: ['CREATE', 'UPDATE'] as const }],
)

function isOurKind(owner: JsonObject): boolean {
  const apiVersion = textAt(owner, 'apiVersion') ?? ''
  return isReservedKey(apiVersion)
}

function isApplication({ group, resource }: AdmissionRequest): boolean {
  return group === application.group && resource === application.plural
}

/**
 * Of the one annotation that the rule `changed-by` judges: the webhook writes it in the name of whoever changes an Application.
 */
function isJudgedElsewhere(request: AdmissionRequest, index: number, key: string): boolean {
  return index === ownAnnotations && key === changedByAnnotation && isApplication(request)
}

/** What is reserved in an object, in an order of its own: equal before and after when nothing of it changed. */
function reservedIn(request: AdmissionRequest, object: JsonObject | undefined): readonly unknown[] {
  const keys = mapPaths.map((path, index) =>
    Object.fromEntries(
      Object.entries(objectAt(object, ...path) ?? {}).filter(
        ([key]) => isReservedKey(key) && !isJudgedElsewhere(request, index, key),
      ),
    ),
  )
  return [...keys, objectsAt(objectAt(object, 'metadata'), 'ownerReferences').filter(isOurKind)]
}

/** Of `key` in the map at the index `i`. */
const reservedKey = `(${reservedKeyExpression('key')} && !(i == ${ownAnnotations} && variables.isApplication && key == ${celText(changedByAnnotation)}))`

/** A list of maps, in the order of `mapPaths`. */
function mapsExpression(object: string): string {
  const maps = mapPaths.map(path => `dyn(${object}).${path.map(step => `?${step}`).join('.')}.orValue({})`)
  return `[${maps.join(', ')}]`
}

const ownersExpression = (object: string): string =>
  `dyn(${object}).metadata.?ownerReferences.orValue([]).filter(o, ${reservedKeyExpression('o.apiVersion')})`

const count = mapPaths.length
const indexes = `[${Array.from({ length: count }, (_, index) => index).join(', ')}]`

/** Kubernetes' controllers copy metadata from templates that were examined; nothing of the platform has claims made by them. */
function isExempt(request: AdmissionRequest, identities: PlatformIdentities): boolean {
  const makesClaim = request.operation === 'CREATE' && request.resource === 'persistentvolumeclaims'
  return isPlatform(request, identities) || (isKubernetes(request, identities) && !makesClaim)
}

/** The CEL twin of `isExempt`. */
function isExemptExpression(identities: PlatformIdentities): string {
  const makesClaim = "(request.operation == 'CREATE' && request.resource.resource == 'persistentvolumeclaims')"
  return `(${isPlatformExpression(identities)} || (${isKubernetesExpression(identities)} && !${makesClaim}))`
}

/** Only the platform sets, changes and removes them; what Kubernetes copies from a template was examined there. */
export const reservedMetadata: Rule = {
  name: 'reserved-metadata',
  stops:
    'filling the platform’s caches with objects that only look like its own, or having objects deleted with an owner of the platform',
  scope: 'application-namespaces',
  administratorsMay: true,
  matches,
  exempts: {
    kubernetesPrefixes: {
      does: 'makes Jobs, ReplicaSets and pods with the metadata of a template, EndpointSlices with the labels of a Service, and writes what is there; a new PersistentVolumeClaim is examined',
      follows: [
        {
          template: 'metadata of pod templates and of `spec.jobTemplate`; `metadata` of a Service',
          judgedBy: ['reserved-metadata'],
        },
        {
          template: '`spec.volumeClaimTemplates` of a StatefulSet; `ephemeral.volumeClaimTemplate` of a pod or a pod template',
          judgedBy: ['claim-templates', 'reserved-metadata'],
        },
      ],
    },
  },
  // Kubernetes' controllers must go on while the webhook is down, and the rule never refuses them (but for new claims) or the
  // platform.
  webhookCondition: identities => ({
    name: 'not-by-kubernetes-or-the-platform',
    expression: `!${isExemptExpression(identities)}`,
  }),
  check(request, identities) {
    if (isExempt(request, identities)) return undefined
    return sameJson(reservedIn(request, request.object), reservedIn(request, request.oldObject)) ? undefined : message
  },
  policy: identities => ({
    variables: [
      {
        name: 'isApplication',
        expression: `request.resource.group == ${celText(application.group)} && request.resource.resource == ${celText(application.plural)}`,
      },
      { name: 'after', expression: mapsExpression('object') },
      {
        name: 'before',
        expression: `oldObject == null ? [${Array(count).fill('{}').join(', ')}] : ${mapsExpression('oldObject')}`,
      },
      { name: 'ownersAfter', expression: ownersExpression('object') },
      { name: 'ownersBefore', expression: `oldObject == null ? [] : ${ownersExpression('oldObject')}` },
      {
        name: 'unchanged',
        expression: [
          `${indexes}.all(i, variables.after[i].all(key, !${reservedKey} || (key in variables.before[i] && variables.before[i][key] == variables.after[i][key]))`,
          ` && variables.before[i].all(key, !${reservedKey} || key in variables.after[i]))`,
          ' && variables.ownersAfter == variables.ownersBefore',
        ].join(''),
      },
    ],
    validation: {
      expression: `${isExemptExpression(identities)} || variables.unchanged`,
      message,
    },
  }),
}
