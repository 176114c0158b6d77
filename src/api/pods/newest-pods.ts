// Which pods of an Application count: while a new version starts, what is wrong with the pods that it replaces says nothing
// about it. Pure.
import type { Pod } from '../builtin/index.ts'
import { labels } from '../names.ts'

const processOf = ({ metadata }: Pod): string => metadata.labels?.[labels.process] ?? ''
const createdAt = ({ metadata }: Pod): string => metadata.creationTimestamp ?? ''

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
  const alive = pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (createdAt(a) < createdAt(b) ? 1 : -1))
  const wanted = new Map(alive.toReversed().map(pod => [processOf(pod), templateOf(pod)]))
  return alive.filter(pod => wanted.get(processOf(pod)) === templateOf(pod))
}
