// Whether the node can run pods: the kubelet answers now, and the API server shows the node as Ready.
// The API alone is not enough: it shows Ready for a while after a node has stopped.
import { objectAt, objectsAt } from '../../../src/lib/json/json-value.ts'
import type { NodeContext } from './layout.ts'

const kubeletHealth = 'http://127.0.0.1:10248/healthz'

/** Whether an object's `status.conditions` has this type with status True. */
export function hasCondition(object: unknown, type: string): boolean {
  return objectsAt(objectAt(object, 'status'), 'conditions').some(item => item['type'] === type && item['status'] === 'True')
}

export async function nodeReady(context: NodeContext): Promise<true | undefined> {
  if (!(await fetch(kubeletHealth)).ok) return undefined
  const node = await context.controlPlane.admin.call('GET', `/api/v1/nodes/${context.settings.nodeName}`)
  return hasCondition(node, 'Ready') ? true : undefined
}
