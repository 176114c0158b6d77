// Verifies that the test control plane is a real one: its controllers act, and it distinguishes users.
// It uses the API only and does not depend on how the control plane was started.
import { describe, expect, test } from 'vitest'
import { createAdminClient } from '../../dev/cluster/control-plane/admin-client.ts'
import { readKubeconfig } from '../../dev/cluster/control-plane/kubeconfig.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { testAdmin, testKubeconfig, withNamespace } from '../fixtures/harness.ts'

function configMap(name: string, owner?: { readonly name: string; readonly uid: string }) {
  const ownerReferences = owner === undefined ? [] : [{ apiVersion: 'v1', kind: 'ConfigMap', ...owner }]
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ownerReferences } }
}

function uidOf(object: unknown): string {
  if (typeof object !== 'object' || object === null || !('metadata' in object)) throw new Error('an object without metadata')
  const { metadata } = object
  if (typeof metadata !== 'object' || metadata === null || !('uid' in metadata)) throw new Error('metadata without uid')
  return String(metadata.uid)
}

describe('the test control plane', () => {
  test('creates the default ServiceAccount of every new namespace', async () => {
    const { name, admin } = await withNamespace()
    const path = `/api/v1/namespaces/${name}/serviceaccounts/default`
    const status = await waitUntil('default ServiceAccount', async () =>
      (await admin.request('GET', path)).status === 200 ? 200 : undefined,
    )
    expect(status).toBe(200)
  })

  test('deletes a dependent when its owner is deleted, and not before', async () => {
    const { name, admin } = await withNamespace()
    const path = `/api/v1/namespaces/${name}/configmaps`
    const owner = await admin.call('POST', path, configMap('owner'))
    await admin.call('POST', path, configMap('dependent', { name: 'owner', uid: uidOf(owner) }))
    await admin.call('POST', path, configMap('stranger'))
    expect((await admin.request('GET', `${path}/dependent`)).status).toBe(200)
    await admin.call('DELETE', `${path}/owner`)
    await waitUntil('deletion of the dependent', async () => (await admin.request('GET', `${path}/dependent`)).status === 404)
    expect((await admin.request('GET', `${path}/stranger`)).status).toBe(200)
  })

  test('treats its administrator as an ordinary user, not as a member of system:masters', async () => {
    const admin = await testAdmin()
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const answer = await admin.call('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review)
    expect(answer).toMatchObject({ status: { userInfo: { username: 'sekisho-dev-admin', groups: ['system:authenticated'] } } })
  })
  test('serves its health to anonymous users and nothing else', async () => {
    const { server, certificateAuthority } = await readKubeconfig(testKubeconfig())
    const anonymous = createAdminClient({ server, certificateAuthority })
    try {
      expect((await anonymous.request('GET', '/readyz')).status).toBe(200)
      expect((await anonymous.request('GET', '/version')).status).toBe(401)
    } finally {
      await anonymous.close()
    }
  })
})
