// What an integration test starts from: access to the test cluster and a namespace of its own that ends with the test.
// It must never touch a namespace that it did not make.
import { randomBytes } from 'node:crypto'
import { inject, onTestFinished } from 'vitest'
import type { AdminClient } from '../../dev/cluster/control-plane/admin-client.ts'
import { adminClientFor } from '../../dev/cluster/control-plane/admin-client.ts'

export { waitUntil } from '../../dev/cluster/wait-until.ts'

/** Path of the test cluster's administrator kubeconfig. */
export function testKubeconfig(): string {
  return inject('kubeconfig')
}

/** An administrator's client that is closed when the test ends. Call it inside a test. */
export async function withAdmin(): Promise<AdminClient> {
  const admin = await adminClientFor(testKubeconfig())
  onTestFinished(() => admin.close())
  return admin
}

export type TestNamespace = { readonly name: string; readonly admin: AdminClient }

/** A fresh namespace for this test; its deletion is asked for when the test ends and is not waited for. */
export async function withNamespace(labels: Readonly<Record<string, string>> = {}): Promise<TestNamespace> {
  const admin = await adminClientFor(testKubeconfig())
  const name = `test-${randomBytes(5).toString('hex')}`
  await admin.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
  onTestFinished(async () => {
    await admin.call('DELETE', `/api/v1/namespaces/${name}`)
    await admin.close()
  })
  return { name, admin }
}
