// The objects that the rows of the matrix act on, created before any policy or webhook is installed.
import { kinds } from '../../src/api/registry.ts'
import { customResourceDefinition } from '../../src/api/schema/crd.ts'
import type { AttackCluster } from './attack-cluster.ts'
import { eventually } from './eventually.ts'
import { dave, everything, mia } from './identities.ts'
import { followers, installation, namespace, secret, secretShapes, tenant, tenantLabel, workloads } from './objects.ts'
import { serviceFixtures } from './rows/service-rows.ts'

/** Installs our kinds and creates the objects; the cluster must be empty. */
export async function createFixtures({ admin, as }: AttackCluster): Promise<void> {
  for (const kind of kinds)
    await admin.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', customResourceDefinition(kind))
  await admin.call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'attack-everything' },
    subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: everything }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  })
  await admin.call('POST', '/api/v1/namespaces', namespace('sekisho-system'))
  for (const [name, labels] of [
    ['acme', tenantLabel],
    ['other', {}],
  ] as const) {
    await admin.call('POST', '/api/v1/namespaces', namespace(name, labels))
    await eventually(`ServiceAccount ${name}/default`, async () => {
      const { status } = await admin.request('GET', `/api/v1/namespaces/${name}/serviceaccounts/default`)
      return status === 200 ? true : undefined
    })
  }
  for (const kind of kinds) {
    const path = `/apis/${kind.apiVersion}/${kind.plural}`
    await eventually(`${kind.plural} served`, async () => ((await admin.request('GET', path)).status === 200 ? true : undefined))
  }
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
  for (const name of ['plain', 'ghtok-held']) await admin.call('POST', `/api/v1${acme}/secrets`, secret({ name }))
  await admin.call('POST', `/api/v1${acme}/secrets`, secret({ name: 'annotated', annotations: { 'kpack.io/git': 'x' } }))
  const environment = secretShapes['environment']
  const pod = workloads.get('Pod')
  const deployment = workloads.get('Deployment')
  if (!environment || !pod || !deployment) throw new Error('the objects of the attacks are incomplete')
  await admin.call('POST', pod.path('acme'), pod.object('runner', environment('plain')))
  await admin.call('POST', deployment.path('acme'), deployment.object('old', environment('ghtok-held')))
  for (const { path, object, leaving } of serviceFixtures) {
    const made = await admin.call('POST', path, object)
    const { name } = (made as { metadata: { name: string } }).metadata
    if (leaving) await admin.call('DELETE', `${path}/${name}`)
  }
  const { status } = await as(dave, 'GET', '/api/v1/namespaces/acme/secrets/plain')
  if (status !== 200) throw new Error(`the attackers should have cluster-admin, but a read was answered with ${status}`)
}
