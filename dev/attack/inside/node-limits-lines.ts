// What the two pods of the attack on the node's limits print (agent/node-limits.py). Pure.
import { isJsonObject } from '../../../src/lib/json/json-value.ts'
import { containerPtys, podPids } from '../../../src/lib/limits/node-limits.ts'

export type Take = { readonly kind: 'take'; readonly what: string; readonly taken: number; readonly refused: string }
export type Use = { readonly kind: 'use'; readonly failed: Readonly<Record<string, string>> }
export type Line = Take | Use | { readonly kind: 'held' }

export type Played = { readonly taken: readonly Take[]; readonly during: readonly Use[] }

/** What is taken, and how many one pod must not get; infinite where the pod's memory limit ends first. */
export const whatIsTaken: Readonly<Record<string, { readonly name: string; readonly most: number }>> = {
  pty: { name: 'pseudo-terminals', most: containerPtys },
  aio: { name: 'events of asynchronous I/O', most: Number.POSITIVE_INFINITY },
  inotify: { name: 'inotify instances', most: Number.POSITIVE_INFINITY },
  epoll: { name: 'epoll watches', most: Number.POSITIVE_INFINITY },
  processes: { name: 'processes', most: podPids },
}

/** A line that is not complete yet, or is of something else, is left out. */
export function parseLines(text: string): readonly Line[] {
  return text.split('\n').flatMap((line): readonly Line[] => {
    if (!line.startsWith('{') || !line.endsWith('}')) return []
    const value: unknown = JSON.parse(line)
    if (!isJsonObject(value)) return []
    const { what, taken, refused, failed, held } = value
    if (typeof what === 'string') return [{ kind: 'take', what, taken: Number(taken), refused: String(refused) }]
    if (isJsonObject(failed)) return [{ kind: 'use', failed: failed as Record<string, string> }]
    return held === true ? [{ kind: 'held' }] : []
  })
}
