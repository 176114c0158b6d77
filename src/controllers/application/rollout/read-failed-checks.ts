// Asks the API server for the Events of a pod that runs and is not ready: only there the kubelet says what its check got.
// Nothing is watched: a cluster has more Events than anything else, and this is asked once a rollout that does not proceed.

import { type CoreEvent, events } from '../../../api/builtin/index.ts'
import { failedCheckOf } from '../../../api/pods/failed-check.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { compareText } from '../../../lib/text/compare-text.ts'
import type { FailedChecks, Unready } from './unanswered.ts'

/** The kubelet itself stops after 25 Events about a pod; tenants' programs may write more. */
const maxEvents = 100

const timeOf = ({ lastTimestamp, firstTimestamp, metadata }: CoreEvent): string =>
  lastTimestamp ?? firstTimestamp ?? metadata.creationTimestamp ?? ''

/** Of the first process that has had its time, which is the one that is spoken of. */
export async function readFailedChecks(client: Pick<KubeClient, 'snapshot'>, unready: readonly Unready[]): Promise<FailedChecks> {
  const asked = unready.find(({ wait }) => wait === 0)
  const { uid, namespace } = asked?.pod.metadata ?? {}
  if (uid === undefined || namespace === undefined) return new Map()
  const fieldSelector = `involvedObject.uid=${uid},reason=Unhealthy`
  const { items } = await client.snapshot(events, { namespace, fieldSelector, most: maxEvents })
  const newestFirst = items.toSorted((a, b) => compareText(timeOf(b), timeOf(a)))
  const failed = newestFirst.map(({ message = '' }) => failedCheckOf(message)).find(found => found !== undefined)
  return failed === undefined ? new Map() : new Map([[uid, failed]])
}
