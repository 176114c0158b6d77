// The requests that reached the API server, by its own counter of finished requests, which is independent of the measured client.
import type { AdminClient } from '../../../../dev/cluster/control-plane/admin-client.ts'

export type ServedRequests = {
  /** Writes to the kinds that are asked about, whatever their result, including subresources and dry runs. */
  readonly writes: number
  /** Writes that were refused: a conflict, an object that already exists. */
  readonly refused: number
  /** Reads of single objects of these kinds; lists and watches are not counted. */
  readonly reads: number
}

const ofApplications: readonly string[] = [
  'applications',
  'applicationcharts',
  'releases',
  'deployments',
  'services',
  'ingresses',
  'events',
]
const writeVerbs = ['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'DELETECOLLECTION']

/** `metrics` in the text format of Prometheus; `kinds` by their plural names. */
export function requestsIn(metrics: string, kinds = ofApplications): ServedRequests {
  const sums = { writes: 0, refused: 0, reads: 0 }
  for (const [, labels = '', value] of metrics.matchAll(/^apiserver_request_total\{([^}]*)\} (\S+)$/gm)) {
    const label = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? ''
    if (!kinds.includes(label('resource'))) continue
    const isWrite = writeVerbs.includes(label('verb'))
    if (label('verb') === 'GET') sums.reads += Number(value)
    if (isWrite) sums.writes += Number(value)
    if (isWrite && Number(label('code')) >= 400) sums.refused += Number(value)
  }
  return sums
}

export async function servedRequests(admin: AdminClient, kinds?: readonly string[]): Promise<ServedRequests> {
  return requestsIn(String(await admin.call('GET', '/metrics')), kinds)
}
