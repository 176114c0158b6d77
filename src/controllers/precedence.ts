// Decides between several objects that claim the same thing. Pure, and total: of two different objects exactly one comes first.
import type { ObjectMeta } from '../api/resource.ts'

/** `holds`: the object uses already what both claim. */
export type Claim = { readonly metadata: ObjectMeta; readonly holds: boolean }

/**
 * Whether `a` comes before `b`. `holder`: the current holder wins, even over an older object; if neither or both hold it, the older one wins.
 * `age`: the older one wins; of two created in the same second (creation times have whole seconds) the one that holds it. A tie is decided
 * by the uid.
 */
export function comesFirst(a: Claim, b: Claim, by: 'holder' | 'age'): boolean {
  return orderOf(a, by) < orderOf(b, by)
}

function orderOf({ metadata, holds }: Claim, by: 'holder' | 'age'): string {
  const { creationTimestamp = '', uid = '' } = metadata
  const held = holds ? '0' : '1'
  return (by === 'holder' ? [held, creationTimestamp, uid] : [creationTimestamp, held, uid]).join('/')
}
