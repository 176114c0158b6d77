// Which problem of a rollout is said when there are several: the one that has the cure. The order stands here and nowhere
// else, so that a reason never gives way to a vaguer one. That Kubernetes has not begun (rollout-times.ts) is said only where
// nothing else is. Pure.
import type { Refusal } from '../../kit/refusal.ts'

/** Each name is a place where a problem shows. */
export type Problems = { readonly [Name in (typeof mostSpecificFirst)[number]]?: Refusal | undefined }

const mostSpecificFirst = [
  /** What the kubelet or the scheduler says of a pod: it names the process and its end. */
  'pod',
  /** No pod is made at all. */
  'refused',
  /** A process runs, and its check fails. */
  'unanswered',
  /** Kubernetes only says that it took too long. */
  'deadline',
] as const

export function mostSpecific(problems: Problems): Refusal | undefined {
  return mostSpecificFirst.map(name => problems[name]).find(problem => problem !== undefined)
}
