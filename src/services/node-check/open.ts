// Opens the check of the node's limits in a process, with its metric. Outside of a pod, where nobody names the node, there is
// nothing to check.
import type { Registry } from 'prom-client'
import type { Manager } from '../../kube/manager.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { createNodeMetrics } from './metrics.ts'
import { createNodeCheck } from './node-check.ts'
import { readNode } from './read-node.ts'

type Deps = {
  readonly manager: Pick<Manager, 'client' | 'isLeader'>
  readonly node: string | undefined
  readonly metrics: Registry | undefined
  readonly clock: Clock
  readonly log: Log
}

/** Runs nothing before `start`; undefined when the node is not known. */
export function openNodeCheck({ manager, node, metrics, ...deps }: Deps): ReturnType<typeof createNodeCheck> | undefined {
  if (node === undefined) return undefined
  const observe = metrics && createNodeMetrics(metrics, node)
  return createNodeCheck({
    ...deps,
    node,
    client: manager.client,
    isLeader: manager.isLeader,
    read: () => readNode(),
    observe: low => observe?.(low),
  })
}
