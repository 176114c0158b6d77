// An image of another tenant that is on the node already: the kubelet checks the pull credential of every pod, so it is not
// started without one.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type Neighbour, openNeighbour } from './neighbour.ts'
import { read } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'

const namespace = 'e2e-registry'
const name = 'e2e-foreign-image'
const path = `/api/v1/namespaces/${namespace}/pods`

let platform: Platform
let tenant: Neighbour
beforeAll(async () => {
  platform = await openPlatform(['dave'])
  tenant = await openNeighbour(platform, namespace, 999_002)
})
afterAll(async () => {
  await platform.admin.request('DELETE', `${path}/${name}`)
  await tenant?.end()
  await platform.admin.close()
})

test('a pod of another tenant cannot run the image of acme that runs on this node', async () => {
  const image = String((await read(platform.admin, 'application/shop')).status?.['image'])
  // The demo ends with a branch that took the image of a preview.
  expect(image).toMatch(/\/acme\/shop(-pr-\d+)?@sha256:/)
  const container = {
    name: 'c',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['ls', '/workspace'],
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  }
  const spec = {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, runAsUser: 1001, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
  }
  await waitUntil('the pod to be created', async () => {
    const answer = await platform.admin.request('POST', path, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace },
      spec,
    })
    return answer.status === 201
  })
  const waiting = await waitUntil(
    'the kubelet answers',
    async () => {
      const { status } = (await platform.admin.call('GET', `${path}/${name}`)) as {
        status?: { containerStatuses?: { state?: { waiting?: { reason?: string }; terminated?: object; running?: object } }[] }
      }
      const state = status?.containerStatuses?.[0]?.state
      if (state?.terminated !== undefined || state?.running !== undefined) return 'it ran'
      const reason = state?.waiting?.reason
      return reason === 'ErrImagePull' || reason === 'ImagePullBackOff' ? reason : undefined
    },
    { timeoutMilliseconds: limits.rollout },
  )
  expect(waiting).toMatch(/ErrImagePull|ImagePullBackOff/)
})
