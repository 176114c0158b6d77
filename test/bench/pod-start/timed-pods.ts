// Pods that do one thing: connect to the DNS service of the cluster by TCP, as an ordinary program does at its start, without a
// time limit or a retry of their own. So a pod ends when it has started and its network works. Their image is that of the
// demo's shop, which the node has.
import { setTimeout as after } from 'node:timers/promises'
import type { AdminClient } from '../../../dev/cluster/control-plane/admin-client.ts'
import { registrySecrets } from '../../../src/api/names.ts'

const pollMilliseconds = 10
const patienceMilliseconds = 60_000

export type TimedPod = {
  readonly namespace: string
  readonly name: string
  /** On the node, with Node.js in it. */
  readonly image: string
  /** IP address of the cluster's DNS service. */
  readonly dns: string
}

const script = `
const socket = require('node:net').connect(53, process.argv[1])
socket.on('connect', () => process.exit(0))
socket.on('error', error => { console.error(error.message); process.exit(1) })
`

function manifestOf({ namespace, name, image, dns }: TimedPod): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      imagePullSecrets: [{ name: registrySecrets.pull }],
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'connect',
          image,
          imagePullPolicy: 'IfNotPresent',
          command: ['node', '-e', script, dns],
          resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '128Mi' } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  }
}

type LivePod = { readonly status?: { readonly phase?: string } }

/**
 * Creates the pod, waits until its connection stands, and deletes it.
 * @returns milliseconds from the creation until the API server had its end
 * @throws when the pod failed, or did not end within a minute
 */
export async function timePod(admin: AdminClient, pod: TimedPod, signal: AbortSignal): Promise<number> {
  const collection = `/api/v1/namespaces/${pod.namespace}/pods`
  const path = `${collection}/${pod.name}`
  const begin = performance.now()
  await admin.call('POST', collection, manifestOf(pod))
  try {
    for (;;) {
      const { status } = (await admin.call('GET', path)) as LivePod
      const milliseconds = performance.now() - begin
      if (status?.phase === 'Succeeded') return milliseconds
      if (status?.phase === 'Failed' || milliseconds > patienceMilliseconds)
        throw new Error(`pod ${pod.namespace}/${pod.name}: ${status?.phase ?? 'no phase'} after ${Math.round(milliseconds)} ms`)
      await after(pollMilliseconds, undefined, { signal })
    }
  } finally {
    await admin.call('DELETE', `${path}?gracePeriodSeconds=0`)
  }
}
