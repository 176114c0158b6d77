// Requests are read from the API server's own counters.
import { expect, test } from 'vitest'
import { requestsIn } from './served-requests.ts'

test('counts finished writes and reads of the kinds of the bench, whatever their code and subresource, and nothing else', () => {
  const metrics = `# HELP apiserver_request_total Counter of apiserver requests
# TYPE apiserver_request_total counter
apiserver_request_total{code="200",component="apiserver",dry_run="",group="apps.sekisho.dev",resource="applications",scope="resource",subresource="status",verb="APPLY",version="v1alpha1"} 7
apiserver_request_total{code="409",component="apiserver",dry_run="",group="apps",resource="deployments",scope="resource",subresource="",verb="APPLY",version="v1"} 1
apiserver_request_total{code="201",component="apiserver",dry_run="",group="",resource="events",scope="resource",subresource="",verb="POST",version="v1"} 1.2e+01
apiserver_request_total{code="404",component="apiserver",dry_run="",group="",resource="services",scope="resource",subresource="",verb="GET",version="v1"} 3
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="services",scope="cluster",subresource="",verb="LIST",version="v1"} 100
apiserver_request_total{code="200",component="apiserver",dry_run="",group="coordination.k8s.io",resource="leases",scope="resource",subresource="",verb="PUT",version="v1"} 1000
apiserver_request_terminations_total{code="200",resource="deployments",verb="PUT"} 10000
`
  expect(requestsIn(metrics)).toEqual({ writes: 20, refused: 1, reads: 3 })
  expect(requestsIn('')).toEqual({ writes: 0, refused: 0, reads: 0 })
})
