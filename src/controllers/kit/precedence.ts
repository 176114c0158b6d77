// Which of several objects that claim the same thing gets it. Pure, and a total order: of two different objects exactly one
// comes first.
import type { ObjectMeta } from '../../api/resource.ts'

/** `holds`: the object uses already what both claim. */
export type Claim = { readonly metadata: ObjectMeta; readonly holds: boolean }

/**
 * `holder`: the current holder wins, even over an older object; if both or neither hold it, the older one wins. `age`: the
 * older one wins; of two created in the same second (creation times have whole seconds), the holder. The uid decides what is
 * left.
 */
export function comesFirst(a: Claim, b: Claim, by: 'holder' | 'age'): boolean {
  return orderOf(a, by) < orderOf(b, by)
}

function orderOf({ metadata, holds }: Claim, by: 'holder' | 'age'): string {
  const { creationTimestamp = '', uid = '' } = metadata
  const held = holds ? '0' : '1'
  return (by === 'holder' ? [held, creationTimestamp, uid] : [creationTimestamp, held, uid]).join('/')
}
