// Labels, annotations and owners by which the platform recognises its own objects. Its caches select by them, so a tenant who could set them
// could fill the memory of the controllers; its garbage is collected by owners, so a foreign owner could delete objects.
// Pod templates are included: Kubernetes' controllers copy their metadata to pods, and what those controllers write is not examined again.
import { domain } from '../../../api/kind.ts'
import { isReservedKey } from '../../../api/names.ts'
import { kinds } from '../../../api/registry.ts'
import { type JsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import { celText, type Match, type Rule } from '../../rule.ts'
import { isKubernetes, isKubernetesExpression, isPlatform, isPlatformExpression } from '../kinds/writers.ts'

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

/** What is reserved in an object, in an order of its own: equal before and after when nothing of it changed. */
function reservedIn(object: JsonObject | undefined): readonly unknown[] {
  const keys = metadataPaths.flatMap(path =>
    fields.map(field =>
      Object.fromEntries(Object.entries(objectAt(object, ...path, field) ?? {}).filter(([key]) => isReservedKey(key))),
    ),
  )
  return [...keys, objectsAt(objectAt(object, 'metadata'), 'ownerReferences').filter(isOurKind)]
}

const reservedKey = (key: string): string =>
  `(${key}.startsWith(${celText(`${domain}/`)}) || ${key}.contains(${celText(`.${domain}/`)}))`

/** A list of maps, in the order of `metadataPaths` and `fields`. */
function mapsExpression(object: string): string {
  const maps = metadataPaths.flatMap(path =>
    fields.map(field => `dyn(${object}).${[...path, field].map(step => `?${step}`).join('.')}.orValue({})`),
  )
  return `[${maps.join(', ')}]`
}

const ownersExpression = (object: string): string =>
  `dyn(${object}).metadata.?ownerReferences.orValue([]).filter(o, ${reservedKey('o.apiVersion')})`

const count = metadataPaths.length * fields.length
const indexes = `[${Array.from({ length: count }, (_, index) => index).join(', ')}]`

/** Only the platform sets, changes and removes them; what Kubernetes copies from a template was examined there. */
export const reservedMetadata: Rule = {
  name: 'reserved-metadata',
  stops:
    'filling the platform’s caches with objects that only look like its own, or having objects deleted with an owner of the platform',
  scope: 'application-namespaces',
  administratorsMay: true,
  matches,
  // Kubernetes' controllers must go on while the webhook is down, and the rule never refuses them or the platform.
  webhookCondition: identities => ({
    name: 'not-by-kubernetes-or-the-platform',
    expression: `!(${isPlatformExpression(identities)} || ${isKubernetesExpression(identities)})`,
  }),
  check(request, identities) {
    if (isPlatform(request, identities) || isKubernetes(request, identities)) return undefined
    return sameJson(reservedIn(request.object), reservedIn(request.oldObject)) ? undefined : message
  },
  policy: identities => ({
    variables: [
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
          `${indexes}.all(i, variables.after[i].all(key, !${reservedKey('key')} || (key in variables.before[i] && variables.before[i][key] == variables.after[i][key]))`,
          ` && variables.before[i].all(key, !${reservedKey('key')} || key in variables.after[i]))`,
          ' && variables.ownersAfter == variables.ownersBefore',
        ].join(''),
      },
    ],
    validation: {
      expression: `${isPlatformExpression(identities)} || ${isKubernetesExpression(identities)} || variables.unchanged`,
      message,
    },
  }),
}
