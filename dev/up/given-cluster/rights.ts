// What the user of the kubeconfig must be allowed to do, asked by SelfSubjectAccessReviews, which change nothing.
// https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-access-review-v1/
import { stringify } from 'yaml'
import { defined } from '../../../src/lib/json/defined.ts'
import type { Kubectl } from '../kubectl.ts'
import { platformNamespace } from '../mode.ts'
import type { RightFact } from './decision/facts.ts'

/** API group → resources; those in a namespace are asked for in the platform's. `kubectl apply --server-side` patches. */
const inCluster: Readonly<Record<string, readonly string[]>> = {
  '': ['namespaces'],
  'apiextensions.k8s.io': ['customresourcedefinitions'],
  'rbac.authorization.k8s.io': ['clusterroles', 'clusterrolebindings'],
  'admissionregistration.k8s.io': [
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
    'validatingwebhookconfigurations',
    'mutatingwebhookconfigurations',
  ],
  'apps.sekisho.dev': ['applicationcharts'],
  'github.sekisho.dev': ['clustergithubapps'],
}

/** Groups of which `make up` also deletes what a former version had (dev/up/rollout/remove-stale.ts). */
const removed = ['rbac.authorization.k8s.io', 'admissionregistration.k8s.io']

const inNamespace: Readonly<Record<string, readonly string[]>> = {
  '': ['secrets', 'configmaps', 'services', 'serviceaccounts', 'persistentvolumeclaims'],
  apps: ['deployments'],
  batch: ['jobs'],
  policy: ['poddisruptionbudgets'],
  'networking.k8s.io': ['networkpolicies'],
  'rbac.authorization.k8s.io': ['roles', 'rolebindings'],
}

/**
 * Who makes roles must hold what they give:
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
 */
const escalation: readonly RightFact[] = ['escalate', 'bind'].map(verb => ({
  verb,
  group: 'rbac.authorization.k8s.io',
  resource: 'clusterroles',
}))

export const neededRights: readonly RightFact[] = [
  ...rightsOf(inCluster, {}),
  ...rightsOf(inNamespace, { namespace: platformNamespace }),
  ...escalation,
]

function rightsOf(table: typeof inCluster, place: { readonly namespace?: string }): readonly RightFact[] {
  return Object.entries(table).flatMap(([group, resources]) =>
    resources.flatMap(resource =>
      ['create', 'patch', ...(removed.includes(group) ? ['list', 'delete'] : [])].map(verb => ({
        verb,
        group,
        resource,
        ...place,
      })),
    ),
  )
}

type Review = { readonly status?: { readonly allowed?: boolean } }

/** Those of the needed rights that the user lacks. */
export async function refusedRights(kubectl: Kubectl): Promise<readonly RightFact[]> {
  const reviews = neededRights.map(({ verb, group, resource, namespace }) => ({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { verb, group, resource, ...defined({ namespace }) } },
  }))
  const answer = await kubectl.ask(reviews.map(review => stringify(review)).join('---\n'))
  const items = answersOf(answer)
  if (items.length !== neededRights.length) throw new Error(`${items.length} answers to ${neededRights.length} access reviews`)
  return neededRights.filter((_right, at) => items[at]?.status?.allowed !== true)
}

/** kubectl prints one JSON document after the other. */
function answersOf(text: string): readonly Review[] {
  return text
    .split(/^(?=\{)/m)
    .filter(part => part.trim() !== '')
    .flatMap(part => {
      const value = JSON.parse(part) as Review & { readonly items?: readonly Review[] }
      return value.items ?? [value]
    })
}
