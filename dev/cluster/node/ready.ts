// Tells whether the node takes pods: the kubelet answers now, and the API server has heard that it is Ready.
// The API's word alone is not enough: it stays true for a while after a node was cut off.
import type { NodeContext } from './layout.ts'

const kubeletHealth = 'http://127.0.0.1:10248/healthz'

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Whether an object's `status.conditions` has this type with status True. */
export function hasCondition(object: unknown, type: string): boolean {
  if (!isObject(object) || !isObject(object['status'])) return false
  const { conditions } = object['status']
  return (
    Array.isArray(conditions) && conditions.some(item => isObject(item) && item['type'] === type && item['status'] === 'True')
  )
}

export async function nodeReady(context: NodeContext): Promise<true | undefined> {
  if (!(await fetch(kubeletHealth)).ok) return undefined
  const node = await context.controlPlane.admin.call('GET', `/api/v1/nodes/${context.settings.nodeName}`)
  return hasCondition(node, 'Ready') ? true : undefined
}
