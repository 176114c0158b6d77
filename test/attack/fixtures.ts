// The objects that the rows of the matrix act on, created before any policy or webhook is installed.
import { kinds } from '../../src/api/registry.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { operatorDefinitions } from '../fixtures/kpack-definitions.ts'
import type { AttackCluster } from './attack-cluster.ts'
import { dave, everything, mia, platformAdministrator } from './identities.ts'
import {
  type Existing,
  firstUser,
  followers,
  installation,
  namespace,
  secret,
  secretShapes,
  tenant,
  tenantLabel,
  workloads,
} from './objects.ts'
import { accessFixtures } from './rows/access-rows.ts'
import { accountFixtures } from './rows/account-rows.ts'
import { applicationFixtures } from './rows/application-rows.ts'
import { approvalFixtures } from './rows/approval-rows.ts'
import { buildPodFixtures } from './rows/build-pod-rows.ts'
import { builtImageFixtures } from './rows/built-image-rows.ts'
import { changerFixtures } from './rows/changer-rows.ts'
import { claimTemplateFixtures } from './rows/claim-template-rows.ts'
import { grantApprovalFixtures } from './rows/grant-approval-rows.ts'
import { haltFixtures } from './rows/halt-rows.ts'
import { ingressFixtures } from './rows/ingress-rows.ts'
import { kindFixtures } from './rows/kind-rows.ts'
import { metadataFixtures } from './rows/metadata-rows.ts'
import { budgetFixtures, podDeletionFixtures, podEndFixtures } from './rows/pod-end-rows.ts'
import { podLabelFixtures } from './rows/pod-label-rows.ts'
import { runtimeClassFixtures, runtimeClassNamespaces } from './rows/runtime-class-rows.ts'
import { serviceKindFixtures } from './rows/service-kind-rows.ts'
import { proxyFixtures } from './rows/service-proxy-rows.ts'
import { serviceFixtures } from './rows/service-rows.ts'
import { tokenSecretFixtures } from './rows/token-secret-rows.ts'
import { volumeFixtures } from './rows/volume-rows.ts'

const everyGroup = [
  '',
  'apps',
  'batch',
  'autoscaling',
  'policy',
  'networking.k8s.io',
  'discovery.k8s.io',
  // For what our own processes try.
  'rbac.authorization.k8s.io',
  'kpack.io',
  'source.toolkit.fluxcd.io',
  'kustomize.toolkit.fluxcd.io',
  'external-secrets.io',
  'cert-manager.io',
  ...new Set(kinds.map(({ group }) => group)),
]

/** Everything to the attackers but what makes a platform admin, and that to one of them. */
async function bindRights(admin: AttackCluster['admin']): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const bind = async (name: string, rule: object, subject: object): Promise<void> => {
    const apiVersion = 'rbac.authorization.k8s.io/v1'
    const apiGroup = 'rbac.authorization.k8s.io'
    await admin.call('POST', `${rbac}/clusterroles`, { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: [rule] })
    await admin.call('POST', `${rbac}/clusterrolebindings`, {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      subjects: [{ apiGroup, ...subject }],
      roleRef: { apiGroup, kind: 'ClusterRole', name },
    })
  }
  await bind('attack-everything', { apiGroups: everyGroup, resources: ['*'], verbs: ['*'] }, { kind: 'Group', name: everything })
  const administer = { apiGroups: ['sekisho.dev'], resources: ['platforms'], verbs: ['administer'] }
  await bind('attack-administer', administer, { kind: 'User', name: platformAdministrator.user })
}

type Made = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly uid: string }
}

async function makeExisting(admin: AttackCluster['admin'], existing: Existing): Promise<void> {
  const { path, object, leaving, ownedBy, controlledBy = ownedBy } = existing
  const { metadata } = (await admin.call('POST', path, object)) as Made
  if (controlledBy !== undefined) {
    const { apiVersion, kind, metadata: owner } = (await admin.call('GET', controlledBy)) as Made
    const controller = existing.controlledBy !== undefined
    const ownerReferences = [{ apiVersion, kind, name: owner.name, uid: owner.uid, controller }]
    await admin.call('PATCH', `${path}/${metadata.name}`, { metadata: { ownerReferences } }, 'application/merge-patch+json')
  }
  if (leaving) await admin.call('DELETE', `${path}/${metadata.name}`)
}

/** Creates the objects; the cluster must be empty. */
export async function createFixtures({ admin, as }: AttackCluster): Promise<void> {
  await bindRights(admin)
  for (const definition of operatorDefinitions) {
    const { group, names, versions } = definition.spec
    await admin.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
    await waitUntil(`${names.plural} are served`, async () => {
      const { status } = await admin.request('GET', `/apis/${group}/${versions[0]?.name}/${names.plural}`)
      return status === 200
    })
  }
  for (const name of ['sekisho-system', 'sekisho-data']) await admin.call('POST', '/api/v1/namespaces', namespace(name))
  for (const [name, labels, annotations = {}] of [
    ['acme', { ...tenantLabel, ...firstUser, 'sekisho.dev/purpose': 'application' }],
    ['acme-build', { ...tenantLabel, ...firstUser, 'sekisho.dev/purpose': 'build' }],
    // A tenant's that the Tenant controller of this version has not seen yet.
    ['unranged', { ...tenantLabel, 'sekisho.dev/purpose': 'application' }],
    ['other', {}],
    ...runtimeClassNamespaces.map(([name, labels, annotations]) => [name, { ...tenantLabel, ...labels }, annotations] as const),
  ] as const) {
    await admin.call('POST', '/api/v1/namespaces', namespace(name, labels, annotations))
    await waitUntil(`ServiceAccount ${name}/default`, async () => {
      const { status } = await admin.request('GET', `/api/v1/namespaces/${name}/serviceaccounts/default`)
      return status === 200
    })
  }
  await admin.call('POST', '/api/v1/namespaces/acme-build/serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'builder' },
  })
  const acme = '/namespaces/acme'
  await admin.call('POST', '/apis/tenancy.sekisho.dev/v1alpha1/tenants', tenant('acme'))
  await admin.call(
    'POST',
    `/apis/github.sekisho.dev/v1alpha1${acme}/installations`,
    installation({ name: 'github', finalizers: ['sekisho.dev/installation'] }),
  )
  for (const { path, object } of followers) {
    await admin.call('POST', path, object('dave', dave.user))
    await admin.call('POST', path, object('mia', mia.user))
  }
  for (const name of ['plain', 'ghtok-held', 'sekisho-registry-pull', 'appsecret-shop', 'binding-shop'])
    await admin.call('POST', `/api/v1${acme}/secrets`, secret({ name }))
  await admin.call('POST', `/api/v1${acme}/secrets`, secret({ name: 'annotated', annotations: { 'kpack.io/git': 'x' } }))
  const environment = secretShapes['environment']
  const pod = workloads.get('Pod')
  const deployment = workloads.get('Deployment')
  if (!environment || !pod || !deployment) throw new Error('the objects of the attacks are incomplete')
  await admin.call('POST', pod.path('acme'), pod.object('runner', environment('plain')))
  for (const one of runtimeClassFixtures) await admin.call('POST', '/apis/node.k8s.io/v1/runtimeclasses', one)
  await admin.call('POST', pod.path('classed'), pod.object('older', environment('plain')))
  await admin.call('POST', deployment.path('acme'), deployment.object('old', environment('ghtok-held')))
  for (const one of [
    ...serviceFixtures,
    ...proxyFixtures,
    ...podLabelFixtures,
    ...ingressFixtures,
    ...volumeFixtures,
    ...claimTemplateFixtures,
    ...tokenSecretFixtures,
    ...podEndFixtures,
    ...budgetFixtures,
    ...podDeletionFixtures,
    ...metadataFixtures,
    ...grantApprovalFixtures,
    ...haltFixtures,
    ...kindFixtures,
    ...buildPodFixtures,
    ...accessFixtures,
    ...applicationFixtures,
    ...accountFixtures,
    ...changerFixtures,
    ...approvalFixtures,
    ...builtImageFixtures,
    ...serviceKindFixtures,
  ])
    await makeExisting(admin, one)
  const { status } = await as(dave, 'GET', '/api/v1/namespaces/acme/secrets/plain')
  if (status !== 200) throw new Error(`the attackers should have cluster-admin, but a read was answered with ${status}`)
}
