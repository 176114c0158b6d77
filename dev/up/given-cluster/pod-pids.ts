// Whether the kubelets of a cluster of the user's keep their pods from using up the processes of the node: read from their
// configuration, which cluster administrators may read (nodes/proxy). https://kubernetes.io/docs/concepts/policy/pid-limiting/
import { keepsPids } from '../../../src/lib/limits/node-limits.ts'
import type { Kubectl } from '../kubectl.ts'
import type { Facts } from './decision/facts.ts'

/** Of a large cluster the first nodes are asked: they are mostly made alike. */
const maxAsked = 20

/** Never rejects: a node that does not answer is named as unknown, and so is what was not asked. */
export async function podPidsFact(kubectl: Pick<Kubectl, 'run'>, nodes: readonly string[]): Promise<Facts['podPids']> {
  const asked = nodes.slice(0, maxAsked)
  const kept = await Promise.all(asked.map(node => isKept(kubectl, node)))
  return {
    unlimited: asked.filter((_node, at) => kept[at] === false),
    unknown: nodes.filter((_node, at) => kept[at] === undefined),
  }
}

async function isKept(kubectl: Pick<Kubectl, 'run'>, node: string): Promise<boolean | undefined> {
  try {
    const { kubeletconfig } = JSON.parse(await kubectl.run(['get', '--raw', `/api/v1/nodes/${node}/proxy/configz`])) as {
      readonly kubeletconfig: { readonly podPidsLimit?: unknown; readonly maxPods?: unknown }
    }
    const { podPidsLimit, maxPods } = kubeletconfig
    return typeof podPidsLimit === 'number' && typeof maxPods === 'number' ? keepsPids({ podPidsLimit, maxPods }) : undefined
  } catch {
    return undefined
  }
}
