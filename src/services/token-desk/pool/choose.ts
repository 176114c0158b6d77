// Which members of a pool are asked for a token, and in which order. Pure.

/** A member, and what is known of it now. */
export type Rated<T> = {
  readonly member: T
  /** What is left of its limit, from 0 to 1; 1 when GitHub has not said it. */
  readonly left: number
  /** GitHub limits it, the platform spaces its tokens, or it lacked what the grant needs. */
  readonly isRefused: boolean
}

/**
 * Those that can be asked, the one with the most left first; equal ones in the given order. When none can, the first of all, so
 * that its refusal is the one that is reported.
 */
export function inOrder<T>(rated: readonly Rated<T>[]): readonly T[] {
  const able = rated.filter(({ left, isRefused }) => left > 0 && !isRefused)
  const asked = able.length > 0 ? able.toSorted((a, b) => b.left - a.left) : rated.slice(0, 1)
  return asked.map(({ member }) => member)
}

/** Those whose live tokens may be used again: another member is only better when nothing is left of this one. */
export function worthUsing<T>(rated: readonly Rated<T>[]): readonly T[] {
  const canAnotherMint = rated.some(({ left, isRefused }) => left > 0 && !isRefused)
  return rated.filter(({ left }) => left > 0 || !canAnotherMint).map(({ member }) => member)
}
