// Which pods of an Application count: while a new version starts, what is wrong with the pods that it replaces says nothing
// about it. Pure.
import { compareText } from '../../lib/text/compare-text.ts'
import type { Pod } from '../builtin/index.ts'
import { labels } from '../names.ts'

const processOf = ({ metadata }: Pod): string => metadata.labels?.[labels.process] ?? ''
const createdAt = ({ metadata }: Pod): string => metadata.creationTimestamp ?? ''

const restartsOf = ({ status }: Pod): number =>
  (status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0)

/** Times are whole seconds: of two pods of one second, what has restarted less counts as newer; names make the order total. */
function newerFirst(a: Pod, b: Pod): number {
  return compareText(createdAt(b), createdAt(a)) || restartsOf(a) - restartsOf(b) || compareText(a.metadata.name, b.metadata.name)
}

/**
 * Which template of its Deployment a pod was made from.
 * https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pod-template-hash-label
 */
const templateOf = ({ metadata }: Pod): string | undefined => metadata.labels?.['pod-template-hash']

/**
 * The newest first, without pods that are being deleted, and without those of a process that has a newer pod of another
 * template. A return to an earlier template makes new pods, so the newest one always has the template that is wanted.
 */
export function newestPods(pods: readonly Pod[]): readonly Pod[] {
  const alive = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined).toSorted(newerFirst)
  const wanted = new Map(alive.toReversed().map(pod => [processOf(pod), templateOf(pod)]))
  return alive.filter(pod => wanted.get(processOf(pod)) === templateOf(pod))
}
