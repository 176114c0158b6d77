// Bench `pod-start`: what the walls of a tenant's namespace cost a pod that starts. Ours is a pod in the namespace of the
// demo's tenant, where nothing is allowed but what NetworkPolicies name; the peer is the same pod in a namespace without any.
// Needs the platform of `make up`, after one demo.
import { type AdminClient, adminClientFor } from '../../../dev/cluster/control-plane/admin-client.ts'
import { adminKubeconfig, readClusterSettings } from '../../../dev/cluster/settings.ts'
import { applicationName, tenantNamespace } from '../../../dev/demo/context.ts'
import { registrySecrets } from '../../../src/api/names.ts'
import { messageOf } from '../../../src/lib/errors.ts'
import type { Bench, Run } from '../harness/bench.ts'
import { oursAbovePeerAtMost } from '../harness/goals.ts'
import { percentile } from '../harness/statistics.ts'
import { timePod } from './timed-pods.ts'

const podsPerRun = 5
/** What a tenant's walls may add to the start of a pod. */
const maxAddedMilliseconds = 300
const plainNamespace = 'sekisho-bench-plain'
const deployment = `/apis/apps/v1/namespaces/${tenantNamespace}/deployments/${applicationName}-web`

type Deployment = {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly [{ image: string }] } } }
}

type Secret = { readonly type: string; readonly data: Readonly<Record<string, string>> }

async function openAdmin(): Promise<AdminClient> {
  return adminClientFor(adminKubeconfig(readClusterSettings()))
}

async function obstacle(): Promise<string | undefined> {
  try {
    const admin = await openAdmin()
    try {
      await admin.call('GET', deployment)
    } finally {
      await admin.close()
    }
    return undefined
  } catch (error) {
    return `the shop of the demo does not run (${messageOf(error)}); start it with \`make up\``
  }
}

/** Without NetworkPolicies, but with the tenant's credential: an image that was pulled with one starts only where one is. */
async function openPlainNamespace(admin: AdminClient): Promise<void> {
  const [apiVersion, name] = ['v1', registrySecrets.pull]
  const { type, data } = (await admin.call('GET', `/api/v1/namespaces/${tenantNamespace}/secrets/${name}`)) as Secret
  await admin.apply(`/api/v1/namespaces/${plainNamespace}`, { apiVersion, kind: 'Namespace', metadata: { name: plainNamespace } })
  const secret = { apiVersion, kind: 'Secret', metadata: { name, namespace: plainNamespace }, type, data }
  await admin.apply(`/api/v1/namespaces/${plainNamespace}/secrets/${name}`, secret)
}

export const podStart: Bench = {
  name: 'pod-start',
  title: `${podsPerRun} pods, one after the other, from creation until a connection stands`,
  budgetSeconds: 600,
  obstacle,
  async open({ scale }) {
    const admin = await openAdmin()
    const { spec } = (await admin.call('GET', deployment)) as Deployment
    const { image } = spec.template.spec.containers[0]
    const dns = readClusterSettings().dnsAddress
    await openPlainNamespace(admin)
    const count = Math.max(1, Math.round(podsPerRun * scale))
    let number = 0
    const run = async (namespace: string, signal: AbortSignal): Promise<Run> => {
      const times: number[] = []
      for (let at = 0; at < count; at++) {
        number += 1
        times.push(await timePod(admin, { namespace, name: `bench-pod-start-${number}`, image, dns }, signal))
      }
      return {
        operations: count,
        wallSeconds: times.reduce((sum, time) => sum + time, 0) / 1000,
        latency: { p50Milliseconds: percentile(times, 50), p99Milliseconds: percentile(times, 99) },
      }
    }
    return {
      comparisons: [
        {
          name: 'walls',
          title: 'a pod whose network is closed but for what policies name',
          unit: 'pods',
          peerName: 'the same pod in a namespace without NetworkPolicies',
          ours: signal => run(tenantNamespace, signal),
          peer: signal => run(plainNamespace, signal),
          goals: [oursAbovePeerAtMost('p50 ms', maxAddedMilliseconds)],
        },
      ],
      async close() {
        await admin.request('DELETE', `/api/v1/namespaces/${plainNamespace}`)
        await admin.close()
      },
    }
  },
}
