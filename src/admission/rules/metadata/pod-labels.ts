// Labels of pods that exist. Selectors of Services are maps of labels, so whoever labels pods puts them behind Services at
// once, a thousand pairs of port and endpoint with one request each (docs/adr/0062-bound-on-ports-times-endpoints.md). What is
// removed adds no endpoint. Pods get labels from templates and as they are made: then they become endpoints at the pace at
// which they start.

import { buildNamespaceOf } from '../../../api/names.ts'
import { type JsonObject, objectAt } from '../../../lib/json/json-value.ts'
import type { AdmissionRequest } from '../../review.ts'
import type { Rule } from '../../rule.ts'
import { isKubernetes, isKubernetesExpression, isPlatform, isPlatformExpression } from '../kinds/writers.ts'

const message =
  'labels of a pod that exists can be removed, but not added or changed: change the template in its Deployment, StatefulSet or Job, or delete the pod and make it again with the label'

const serviceAccounts = 'system:serviceaccount:'

/** ServiceAccounts of other namespaces are operators, such as those of databases, which mark the pod that leads. */
function isOperator({ username, namespace = '' }: AdmissionRequest): boolean {
  const own = [namespace, buildNamespaceOf(namespace)].map(name => `${serviceAccounts}${name}:`)
  return username.startsWith(serviceAccounts) && !own.some(prefix => username.startsWith(prefix))
}

/** The CEL twin of `isOperator`. */
const isOperatorExpression = [
  `request.userInfo.username.startsWith('${serviceAccounts}')`,
  `!request.userInfo.username.startsWith('${serviceAccounts}' + request.namespace + ':')`,
  `!request.userInfo.username.startsWith('${serviceAccounts}' + request.namespace + '${buildNamespaceOf('')}:')`,
].join(' && ')

function labelsOf(object: JsonObject | undefined): JsonObject {
  return objectAt(object, 'metadata', 'labels') ?? {}
}

const labelsExpression = (object: string): string => `dyn(${object}).metadata.?labels.orValue({})`

export const podLabels: Rule = {
  name: 'pod-labels',
  stops: 'making nodes program a burst of endpoints, by labels that put pods which run behind many Services at once',
  scope: 'application-namespaces',
  administratorsMay: true,
  exempts: {
    kubernetesPrefixes: {
      does: 'gives pods the labels of templates, and those of their place among the pods of a StatefulSet or Job',
      follows: [
        {
          template: 'labels of pod templates',
          harmless: 'Kubernetes makes new pods from a changed template, and changes no labels of others by what a tenant wrote',
        },
      ],
    },
  },
  matches: [{ group: '', resources: ['pods', 'pods/*'], operations: ['UPDATE'] }],
  // Kubelets and controllers write the status of pods all the time, also while the webhook is down.
  webhookCondition: identities => ({
    name: 'not-by-kubernetes-or-the-platform',
    expression: `!(${isKubernetesExpression(identities)} || ${isPlatformExpression(identities)})`,
  }),
  check(request, identities) {
    if (isKubernetes(request, identities) || isPlatform(request, identities) || isOperator(request)) return undefined
    const before = labelsOf(request.oldObject)
    return Object.entries(labelsOf(request.object)).every(([key, value]) => Object.hasOwn(before, key) && before[key] === value)
      ? undefined
      : message
  },
  policy: identities => ({
    variables: [
      { name: 'after', expression: labelsExpression('object') },
      { name: 'before', expression: labelsExpression('oldObject') },
    ],
    validation: {
      expression: [
        'variables.after.all(key, key in variables.before && variables.before[key] == variables.after[key])',
        isKubernetesExpression(identities),
        isPlatformExpression(identities),
        `(${isOperatorExpression})`,
      ].join(' || '),
      message,
    },
  }),
}
