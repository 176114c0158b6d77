// The product's own client against the test cluster, for integration tests of the runtime.
import { onTestFinished } from 'vitest'
import type { KubeClient } from '../../src/kube/client/client.ts'
import { createKubeClient, type KubeClientDeps } from '../../src/kube/client/kube-client.ts'
import { loadKubeConnection } from '../../src/kubeconfig/kubeconfig.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { testKubeconfig, withNamespace } from './harness.ts'

export type KubeAccess = { readonly client: KubeClient; readonly namespace: string }

/** A client and a namespace that end with the test. */
export async function withKube(overrides: Partial<KubeClientDeps> = {}): Promise<KubeAccess> {
  const { name } = await withNamespace()
  const connection = await loadKubeConnection({ environment: { KUBECONFIG: testKubeconfig() }, clock: systemClock })
  const client = createKubeClient({
    connection,
    component: 'test',
    clock: systemClock,
    random: Math.random,
    ...overrides,
  })
  onTestFinished(() => client.close())
  return { client, namespace: name }
}
