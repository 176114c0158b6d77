// Of several objects that want the same thing, which one has it. Pure, and total: of two different objects exactly one comes first.
import type { ObjectMeta } from '../api/resource.ts'

/** `holds`: it has made use already of what both want. */
export type Claim = { readonly metadata: ObjectMeta; readonly holds: boolean }

/**
 * `holder`: whoever holds it keeps it, also from an older one; else the older one. `age`: the older one, and of two made in one second (times
 * of creation have whole seconds) the one that holds it. The uid decides what is left.
 */
export function comesFirst(a: Claim, b: Claim, by: 'holder' | 'age'): boolean {
  return orderOf(a, by) < orderOf(b, by)
}

function orderOf({ metadata, holds }: Claim, by: 'holder' | 'age'): string {
  const { creationTimestamp = '', uid = '' } = metadata
  const held = holds ? '0' : '1'
  return (by === 'holder' ? [held, creationTimestamp, uid] : [creationTimestamp, held, uid]).join('/')
}
