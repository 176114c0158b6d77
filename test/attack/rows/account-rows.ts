// Attacks by the ServiceAccount of an Application, `sekisho-app-held`: under it run only pods that the platform rendered for that
// Application. Whoever runs a pod under it has the tokens of its grants.
import {
  controllerManager,
  controllers,
  daemonSetController,
  dave,
  garbageCollector,
  type Identity,
  impostor,
  jobController,
  platformAdministrator,
  replicaSetController,
  statefulSetController,
} from '../identities.ts'
import { type Body, type Existing, workloads } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const account = 'sekisho-app-held'
const container = { name: 'main', image: 'registry.test/x' }
const under = { serviceAccountName: account, containers: [container] }
const application = '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme/applications/held'
const uid = '00000000-0000-4000-8000-000000000000'

const pathOf = (kind: string, namespace = 'acme'): string => workloads.get(kind)?.path(namespace) ?? ''
const made = (kind: string, name: string, spec: object = under): Body => {
  const found = workloads.get(kind)
  if (found === undefined) throw new Error(`${kind} is no workload`)
  return found.object(name, spec as Parameters<typeof found.object>[1])
}

type Owned = { readonly apiVersion: string; readonly kind: string; readonly name: string }
const owner = (apiVersion: string, kind: string, name = 'held'): Owned => ({ apiVersion, kind, name })
const held = owner('apps.sekisho.dev/v1alpha1', 'Application')

type Rendering = { readonly of?: string; readonly by?: Owned; readonly spec?: object }
/** With the label of the Application in its pod template and that controlling owner, as what is rendered for it. */
export function rendered(kind: string, name: string, { of = 'held', by = held, spec: pods = under }: Rendering = {}): Body {
  const body = structuredClone(made(kind, name, pods)) as unknown as Record<string, Record<string, unknown>>
  const label = { 'sekisho.dev/application': of }
  const labelled = (object: Record<string, unknown> | undefined): void => {
    if (object === undefined) return
    const metadata = (object['metadata'] ?? {}) as Record<string, unknown>
    object['metadata'] = { ...metadata, labels: { ...(metadata['labels'] as object), ...label } }
  }
  type Templated = { template?: Record<string, unknown>; jobTemplate?: { spec: { template: Record<string, unknown> } } }
  const spec = body['spec'] as Templated | undefined
  labelled(kind === 'Pod' ? body : (spec?.jobTemplate?.spec.template ?? spec?.template))
  return {
    ...(body as unknown as Body),
    metadata: {
      ...(body['metadata'] as Body['metadata']),
      ownerReferences: [{ ...by, uid, controller: true }],
    } as unknown as Body['metadata'],
  }
}

const refused = expecting('application-pods')
const forged = expecting('application-pods', 'reserved-metadata')
const serviceAccount = (metadata: object): object => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata })
const accounts = '/api/v1/namespaces/acme/serviceaccounts'

/** A template of the tenant's own, what the platform rendered, and a ReplicaSet of an earlier release. */
const own = { containers: [container] }
export const accountFixtures: readonly Existing[] = [
  { path: accounts, object: serviceAccount({ name: account }) as Body },
  { path: '/api/v1/namespaces/other/serviceaccounts', object: serviceAccount({ name: account }) as Body },
  ...['Deployment', 'StatefulSet', 'DaemonSet', 'CronJob'].map(kind => ({
    path: pathOf(kind),
    object: made(kind, 'of-tenant', kind === 'DaemonSet' ? { ...own, nodeSelector: { none: 'none' } } : own),
  })),
  {
    path: pathOf('ReplicaSet'),
    object: JSON.parse(
      JSON.stringify(made('ReplicaSet', 'earlier')).replaceAll('{"app":"x"}', '{"app":"x","sekisho.dev/application":"held"}'),
    ) as Body,
  },
  { path: pathOf('Deployment'), object: made('Deployment', 'released'), controlledBy: application },
  {
    path: pathOf('Pod'),
    object: made('Pod', 'running-under', { ...under, initContainers: [{ ...container, name: 'init' }] }),
  },
]

const peopleRows: readonly Row[] = [...workloads.keys()].flatMap(kind => [
  ...[dave, impostor].map(as =>
    refused.post(`${as.user} makes a ${kind} under the account`, as, pathOf(kind), made(kind, 'stolen')),
  ),
  refused.post(
    `${kind} under the account by the old field`,
    dave,
    pathOf(kind),
    made(kind, 'by-old-field', { ...own, serviceAccount: account }),
  ),
  refused.post(
    `${kind} under the account of an Application that is not there`,
    dave,
    pathOf(kind),
    made(kind, 'early', { ...own, serviceAccountName: kind === 'Pod' ? account : 'sekisho-app-later' }),
  ),
  allowed.post(`${kind} under the account elsewhere`, dave, pathOf(kind, 'other'), made(kind, 'elsewhere')),
])

const forgedRows: readonly Row[] = ['Deployment', 'Job', 'CronJob'].map(kind =>
  forged.post(`dave makes a ${kind} that looks rendered`, dave, pathOf(kind), rendered(kind, 'forged')),
)

const template = { spec: { template: { spec: under } } }
/** `kubectl rollout undo`, `kubectl set serviceaccount`, `kubectl edit`: a patch of the template. */
const rollbackRows: readonly Row[] = [
  ...['Deployment', 'StatefulSet', 'DaemonSet'].map(kind =>
    refused.patch(`dave rolls a ${kind} back to a template under the account`, dave, `${pathOf(kind)}/of-tenant`, template),
  ),
  refused.patch('dave moves a CronJob under the account', dave, `${pathOf('CronJob')}/of-tenant`, {
    spec: { jobTemplate: template },
  }),
  expecting('application-pods', 'rendered-objects').patch(
    'dave rolls a rendered Deployment back to another image',
    dave,
    `${pathOf('Deployment')}/released`,
    { spec: { template: { spec: { containers: [{ ...container, image: 'registry.test/earlier' }] } } } },
  ),
  refused.patch('dave scales the ReplicaSet of an earlier release', dave, `${pathOf('ReplicaSet')}/earlier`, {
    spec: { replicas: 2 },
  }),
  expecting('rendered-objects').patch(
    'dave scales the ReplicaSet of an earlier release by its scale',
    dave,
    `${pathOf('ReplicaSet')}/earlier/scale`,
    { spec: { replicas: 2 } },
  ),
]

const platformRows: readonly Row[] = [
  ...['Deployment', 'CronJob', 'Job'].flatMap(kind => [
    allowed.post(`the platform renders a ${kind}`, controllers, pathOf(kind), rendered(kind, 'rendered-under')),
    refused.post(
      `the platform renders a ${kind} of another Application under the account`,
      controllers,
      pathOf(kind),
      rendered(kind, 'foreign', { by: owner(held.apiVersion, held.kind, 'other') }),
    ),
    refused.post(
      `the platform renders a ${kind} whose pods are of another Application`,
      controllers,
      pathOf(kind),
      rendered(kind, 'foreign', { of: 'other' }),
    ),
  ]),
  ...['Pod', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'ReplicationController'].map(kind =>
    refused.post(`the platform makes a ${kind}, which it never renders`, controllers, pathOf(kind), rendered(kind, 'never')),
  ),
]

const replicas = owner('apps/v1', 'ReplicaSet')
const kubernetesRows: readonly Row[] = [
  allowed.post('a pod of a ReplicaSet', replicaSetController, pathOf('Pod'), rendered('Pod', 'a', { by: replicas })),
  allowed.post('a pod of a Job', jobController, pathOf('Pod'), rendered('Pod', 'a', { by: owner('batch/v1', 'Job') })),
  allowed.post(
    'a ReplicaSet of a Deployment',
    controllerManager,
    pathOf('ReplicaSet'),
    rendered('ReplicaSet', 'a', { by: owner('apps/v1', 'Deployment') }),
  ),
  allowed.post(
    'a Job of a CronJob',
    controllerManager,
    pathOf('Job'),
    rendered('Job', 'a', { by: owner('batch/v1', 'CronJob') }),
  ),
  // Of a revision that somebody planted: the platform renders neither.
  refused.post(
    'a pod of a StatefulSet',
    statefulSetController,
    pathOf('Pod'),
    rendered('Pod', 'a', { by: owner('apps/v1', 'StatefulSet') }),
  ),
  refused.post(
    'a pod of a DaemonSet',
    daemonSetController,
    pathOf('Pod'),
    rendered('Pod', 'a', { by: owner('apps/v1', 'DaemonSet') }),
  ),
  refused.post(
    'a pod of a ReplicationController',
    controllerManager,
    pathOf('Pod'),
    rendered('Pod', 'a', { by: owner('v1', 'ReplicationController') }),
  ),
  refused.post('a pod of nobody', replicaSetController, pathOf('Pod'), made('Pod', 'a')),
  refused.post(
    'a pod without the label of its Application',
    replicaSetController,
    pathOf('Pod'),
    rendered('Pod', 'a', { by: replicas, of: 'other' }),
  ),
  allowed.patch('Kubernetes scales a ReplicaSet', controllerManager, `${pathOf('ReplicaSet')}/earlier`, {
    spec: { replicas: 0 },
  }),
  allowed.patch('the garbage collector orphans a Deployment', garbageCollector, `${pathOf('Deployment')}/released`, {
    metadata: { ownerReferences: [] },
  }),
  allowed.post('a platform admin makes a pod', platformAdministrator, pathOf('Pod'), made('Pod', 'repair')),
]

const running = `${pathOf('Pod')}/running-under`
const stolenImage = 'registry.test/stolen'
/** `kubectl set image pod/…`: whoever changes the image of a pod that runs under the account runs what he likes there. */
const imageRows: readonly Row[] = [
  ...[dave, impostor, controllers, controllerManager, replicaSetController].flatMap(as => [
    refused.strategicPatch(`${as.user} changes the image of a pod under the account`, as, running, {
      spec: { containers: [{ name: 'main', image: stolenImage }] },
    }),
    refused.strategicPatch(`${as.user} changes the image of an init container there`, as, running, {
      spec: { initContainers: [{ name: 'init', image: stolenImage }] },
    }),
  ]),
  refused.jsonPatch('dave changes that image by a JSON patch', dave, running, [
    { op: 'replace', path: '/spec/containers/0/image', value: stolenImage },
  ]),
  // Neither takes an image, and an ephemeral container has a rule of its own (application-pod-commands).
  allowed.strategicPatch('dave sends an image with other resources', dave, `${running}/resize`, {
    spec: { containers: [{ name: 'main', image: stolenImage }] },
  }),
  allowed.strategicPatch('dave sends an image with an ephemeral container', dave, `${running}/ephemeralcontainers`, {
    spec: {
      containers: [{ name: 'main', image: stolenImage }],
      ephemeralContainers: [{ name: 'debug', image: 'registry.test/debug' }],
    },
  }),
  allowed.patch('dave annotates a pod under the account', dave, running, { metadata: { annotations: { a: 'b' } } }),
  allowed.patch('dave gives it a deadline', dave, running, { spec: { activeDeadlineSeconds: 600 } }),
  allowed.remove('dave deletes a pod under the account', dave, running),
  allowed.strategicPatch('a platform admin changes the image of a pod under the account', platformAdministrator, running, {
    spec: { containers: [{ name: 'main', image: stolenImage }] },
  }),
]

const ofPlatform = expecting('account-writers')
const accountRows: readonly Row[] = [
  ...[dave, impostor].flatMap(as => [
    ofPlatform.post(`${as.user} makes such an account first`, as, accounts, serviceAccount({ name: 'sekisho-app-later' })),
    ofPlatform.post(`${as.user} has its name generated`, as, accounts, serviceAccount({ generateName: 'sekisho-app-' })),
    ofPlatform.patch(`${as.user} gives it a Secret to pull with`, as, `${accounts}/${account}`, {
      imagePullSecrets: [{ name: 'plain' }],
    }),
    ofPlatform.patch(`${as.user} gives it Secrets`, as, `${accounts}/${account}`, { secrets: [{ name: 'plain' }] }),
    ofPlatform.remove(`${as.user} deletes it`, as, `${accounts}/${account}`),
  ]),
  allowed.post('the platform makes it', controllers, accounts, serviceAccount({ name: 'sekisho-app-later' })),
  allowed.remove('the platform deletes it', controllers, `${accounts}/${account}`),
  allowed.remove('the garbage collector deletes it', garbageCollector, `${accounts}/${account}`),
  allowed.remove('a platform admin deletes it', platformAdministrator, `${accounts}/${account}`),
  allowed.post('dave makes an account whose name only looks alike', dave, accounts, serviceAccount({ name: 'sekisho-apps' })),
]

const node: Identity = { user: 'system:node:n1', groups: dave.groups }
const tokenRequest = {
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
  spec: { audiences: ['sekisho'], expirationSeconds: 600 },
}
const noToken = expecting('account-tokens')
const tokenRows: readonly Row[] = [
  ...[dave, impostor, controllers].map(as =>
    noToken.post(`${as.user} makes a token of the account`, as, `${accounts}/${account}/token`, tokenRequest),
  ),
  allowed.post('a node makes a token of the account', node, `${accounts}/${account}/token`, tokenRequest),
]

export const accountPodRows: readonly Row[] = [
  ...peopleRows,
  ...forgedRows,
  ...rollbackRows,
  ...platformRows,
  ...kubernetesRows,
  ...imageRows,
  ...accountRows,
  ...tokenRows,
]
