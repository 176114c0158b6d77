// How floods make what they need before the clock runs.
import { mergePatch } from '../cluster/api-attempts.ts'
import type { World } from '../world/world.ts'

export type Manifest = { readonly metadata: { readonly name: string }; readonly spec: Readonly<Record<string, unknown>> }

/**
 * Changes the object that an earlier flood created, or creates it. In this order: where the quota is used up, creating it again
 * is refused by that.
 */
export async function write(world: World, collection: string, json: Manifest): Promise<void> {
  const { metadata, spec } = json
  const path = `${collection}/${metadata.name}`
  await world.journal.note({ kind: 'object', path })
  const changed = await world.api('gary', 'PATCH', path, { json: { spec }, contentType: mergePatch })
  const { status, text } = changed.status === 404 ? await world.api('gary', 'POST', collection, { json }) : changed
  if (status >= 300) throw new Error(`gary cannot write ${metadata.name}: ${status} ${text}`)
}
