// Says which limits one pod may use up for all pods of the node: of the node on which this process runs. Every replica says it
// in its log and in a metric; the leader also in a ConfigMap. The limit of processes of a pod cannot be seen from inside one:
// `make up` asks the kubelets for it.
import { configMaps } from '../../api/builtin/index.ts'
import { platformNamespace } from '../../api/names.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { Clock } from '../../lib/clock.ts'
import { type NodeReading, type Shortcoming, shortcomings } from '../../lib/limits/node-limits.ts'
import type { Log } from '../../lib/log.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'

export type NodeCheckDeps = {
  readonly client: Pick<KubeClient, 'apply'>
  /** The node of this pod. */
  readonly node: string
  readonly read: () => Promise<NodeReading>
  readonly isLeader: () => boolean
  /** Called after each round with the number of limits that are too low. */
  readonly observe: (low: number) => void
  readonly clock: Pick<Clock, 'sleep'>
  readonly log: Pick<Log, 'info' | 'error'>
}

/** The ConfigMap in the platform's namespace. */
export const nodeStatusConfigMap = 'sekisho-node-status'
const fieldManager = 'sekisho.dev/node-check'
const everyMilliseconds = 60_000

/** A loop that runs nothing before `start`. */
export function createNodeCheck(deps: NodeCheckDeps): Pick<Periodic, 'start' | 'stop'> {
  const { node, clock, log } = deps
  let said: string | undefined
  /** While this replica leads: another may have recorded what is true of its own node. */
  let recorded: string | undefined
  return periodic({
    name: 'check of the node’s limits',
    everyMilliseconds,
    clock,
    log,
    async work() {
      const found = shortcomings(await deps.read())
      deps.observe(found.length)
      const text = limitsText(found)
      if (text !== said) report(log, node, found)
      said = text
      if (!deps.isLeader()) recorded = undefined
      else if (recorded !== text) {
        await record(deps, text)
        recorded = text
      }
    },
  })
}

/** One line for each limit, with its cure. */
export function limitsText(found: readonly Shortcoming[]): string {
  if (found.length === 0) return 'sufficient'
  return found.map(({ limit, found: value, wanted, cure }) => `${limit} is ${value}, must be ${wanted}: ${cure}`).join('\n')
}

function report(log: NodeCheckDeps['log'], node: string, found: readonly Shortcoming[]): void {
  if (found.length === 0) log.info({ node }, 'no pod can use up a limit of this node for the others')
  else
    log.error(
      { node, limits: found },
      'one pod may use up limits of this node for all others: raise them on every node (docs/guide/install.md, section 7)',
    )
}

async function record({ client, node }: NodeCheckDeps, limits: string): Promise<void> {
  const { apiVersion, kind } = configMaps
  const metadata = { namespace: platformNamespace, name: nodeStatusConfigMap }
  await client.apply(configMaps, { apiVersion, kind, metadata, data: { node, limits } }, { fieldManager, force: true })
}
