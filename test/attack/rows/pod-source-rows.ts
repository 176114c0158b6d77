// Attacks by what drivers and signers of the cluster give to a pod. The API server of the tests drops `podCertificate` and
// `clusterTrustBundle` (their feature gates are off by default): that the rule refuses them is asked of its TypeScript
// (pod-sources.test.ts).
import { clusterAdministrator, dave } from '../identities.ts'
import { workloads } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const refused = expecting('pod-sources')
const container = { name: 'main', image: 'registry.test/x' }
const claims = [{ name: 'gpu', resourceClaimName: 'gpu' }]
const device = { resourceClaims: claims, containers: [{ ...container, resources: { claims: [{ name: 'gpu' }] } }] }
const ordinary = {
  containers: [container],
  volumes: [
    {
      name: 'v',
      projected: {
        sources: [
          { serviceAccountToken: { path: 'token', audience: 'sekisho', expirationSeconds: 600 } },
          { configMap: { name: 'x' } },
          { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
        ],
      },
    },
  ],
}

export const podSourceRows: readonly Row[] = [...workloads].flatMap(([kind, { path, object }]) => [
  refused.post(`${kind} with a device of a driver`, dave, path('acme'), object('device', device)),
  refused.post(`${kind} with a device by the cluster administrator`, clusterAdministrator, path('acme'), object('d', device)),
  allowed.post(`${kind} with projected tokens and files`, dave, path('acme'), object('files', ordinary)),
  allowed.post(`${kind} with a device elsewhere`, dave, path('other'), object('device', device)),
])
