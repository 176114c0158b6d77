// Under the ServiceAccount of an Application runs what the platform rendered for that Application, and nothing else: neither pods
// and templates of people, nor those of a chart of another Application, nor what Kubernetes' controllers would make of a revision
// that somebody planted. Whoever runs a pod under it has the tokens of its grants
// (docs/adr/0092-a-grant-for-an-application.md).
import { applicationAccount, applicationAccountPrefix } from '../../../api/application-account.ts'
import { application } from '../../../api/apps/application.ts'
import { labels } from '../../../api/names.ts'
import { type JsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { PlatformIdentities } from '../../identities.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, celText, type Match, type Rule } from '../../rule.ts'
import { isKubernetes, isKubernetesExpression } from '../kinds/writers.ts'
import { podSpecOf, podSpecVariables, podTemplateExpression, podTemplateOf, samePodSpec } from '../pods/pod-spec.ts'

const changes = ['CREATE', 'UPDATE'] as const
/** The account of a pod that exists cannot change, its images can; commands in it are judged by `application-pod-commands`. */
const matches: readonly Match[] = [
  { group: '', resources: ['pods'], operations: changes },
  // Neither changes an image today: what the API server takes from them has changed before.
  { group: '', resources: ['pods/ephemeralcontainers', 'pods/resize'], operations: ['UPDATE'] },
  { group: '', resources: ['replicationcontrollers', 'podtemplates'], operations: changes },
  { group: 'apps', resources: ['deployments', 'replicasets', 'statefulsets', 'daemonsets'], operations: changes },
  { group: 'batch', resources: ['jobs', 'cronjobs'], operations: changes },
]

type Owner = { readonly kind: string; readonly group: string }

/** What Kubernetes' controllers make of what the platform renders: which resource, for which owners. */
const made: readonly { readonly resource: string; readonly owners: readonly Owner[] }[] = [
  {
    resource: 'pods',
    owners: [
      { kind: 'ReplicaSet', group: 'apps' },
      { kind: 'Job', group: 'batch' },
    ],
  },
  { resource: 'replicasets', owners: [{ kind: 'Deployment', group: 'apps' }] },
  { resource: 'jobs', owners: [{ kind: 'CronJob', group: 'batch' }] },
]
/** What the platform renders. */
const renderedResources = ['deployments', 'cronjobs', 'jobs']

const containerLists = ['containers', 'initContainers'] as const

const message = `pods run under a ServiceAccount ${applicationAccountPrefix}… only when the platform renders them for its Application: name another ServiceAccount, or change the Application`

function accountsIn(spec: JsonObject | undefined): readonly string[] {
  return [textAt(spec, 'serviceAccountName'), textAt(spec, 'serviceAccount')].filter(
    (name): name is string => name?.startsWith(applicationAccountPrefix) === true,
  )
}

function isControlledBy(object: JsonObject | undefined, { kind, group }: Owner, name?: string): boolean {
  return objectsAt(objectAt(object, 'metadata'), 'ownerReferences').some(
    owner =>
      owner['controller'] === true &&
      owner['kind'] === kind &&
      textAt(owner, 'apiVersion')?.startsWith(`${group}/`) === true &&
      (name === undefined || owner['name'] === name),
  )
}

function isMadeByKubernetes({ resource, object, oldObject, operation }: AdmissionRequest, isOfApplication: boolean): boolean {
  const unchanged = operation === 'UPDATE' && sameJson(podSpecOf(resource, object), podSpecOf(resource, oldObject))
  const owners = made.find(one => one.resource === resource)?.owners ?? []
  return unchanged || (isOfApplication && owners.some(owner => isControlledBy(object, owner)))
}

/** What each container of a pod runs. */
const imagesIn = (spec: JsonObject | undefined): readonly (readonly [unknown, unknown])[] =>
  containerLists.flatMap(list => objectsAt(spec, list).map(({ name, image }) => [name, image] as const))

/** Whoever changes it, also Kubernetes' controllers: what runs is what was rendered. */
function runsTheSame({ object, oldObject }: AdmissionRequest): boolean {
  return sameJson(imagesIn(podSpecOf('pods', object)), imagesIn(podSpecOf('pods', oldObject)))
}

function mayRun(request: AdmissionRequest, identities: PlatformIdentities, accounts: readonly string[]): boolean {
  const { resource, operation, object, username } = request
  if (resource === 'pods' && operation === 'UPDATE') return runsTheSame(request)
  const name = textAt(objectAt(podTemplateOf(resource, object), 'metadata', 'labels'), labels.application)
  const isOfApplication = name !== undefined && accounts.every(account => account === applicationAccount(name))
  if (isKubernetes(request, identities)) return isMadeByKubernetes(request, isOfApplication)
  return (
    isOfApplication &&
    identities.controllers.includes(username) &&
    renderedResources.includes(resource) &&
    isControlledBy(object, application, name)
  )
}

const ownerExpression = ({ kind, group }: Owner, more = ''): string =>
  `dyn(object).metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && o.kind == ${celText(kind)} && o.apiVersion.startsWith(${celText(`${group}/`)})${more})`

/** CEL: what each container runs, of a variable with a pod spec. */
const imagesExpression = (spec: string): string =>
  containerLists.map(list => `variables.${spec}.?${list}.orValue([]).map(c, [c.name, c.?image.orValue('')])`).join(' + ')

export const applicationPods: Rule = {
  name: 'application-pods',
  stops:
    'taking the GitHub tokens of an Application, by a pod or a template of one’s own under its ServiceAccount, or by another image in a pod that runs under it',
  scope: 'application-namespaces',
  administratorsMay: true,
  exempts: {
    kubernetesPrefixes: {
      does: 'makes the ReplicaSets, Jobs and pods of what the platform rendered, and changes all but their pod templates',
      follows: [{ template: 'the pod template of a Deployment, ReplicaSet, CronJob or Job', judgedBy: ['application-pods'] }],
    },
  },
  matches,
  check(request, identities) {
    const accounts = accountsIn(podSpecOf(request.resource, request.object))
    return accounts.length === 0 || mayRun(request, identities, accounts) ? undefined : message
  },
  policy: identities => ({
    variables: [
      ...podSpecVariables,
      {
        name: 'accounts',
        expression: `[variables.spec.?serviceAccountName.orValue(''), variables.spec.?serviceAccount.orValue('')].filter(a, a.startsWith(${celText(applicationAccountPrefix)}))`,
      },
      { name: 'running', expression: "variables.r == 'pods' && request.operation == 'UPDATE'" },
      { name: 'template', expression: podTemplateExpression('object', 'metadata') },
      { name: 'application', expression: `variables.template.?labels[?${celText(labels.application)}].orValue('')` },
      {
        name: 'ofApplication',
        expression: `variables.accounts.all(a, a == ${celText(applicationAccountPrefix)} + variables.application)`,
      },
      {
        name: 'made',
        expression: made
          .map(
            ({ resource, owners }) =>
              `(variables.r == ${celText(resource)} && (${owners.map(owner => ownerExpression(owner)).join(' || ')}))`,
          )
          .join(' || '),
      },
    ],
    validation: {
      expression: [
        'variables.accounts.size() == 0',
        `(variables.running && ${imagesExpression('spec')} == ${imagesExpression('oldSpec')})`,
        `(!variables.running && ${isKubernetesExpression(identities)} && (${samePodSpec} || (variables.ofApplication && variables.made)))`,
        [
          `(!variables.running && request.userInfo.username in ${celList(identities.controllers)} && variables.ofApplication`,
          `variables.r in ${celList(renderedResources)}`,
          `${ownerExpression(application, ' && o.name == variables.application')})`,
        ].join(' && '),
      ].join(' || '),
      message,
    },
  }),
}
