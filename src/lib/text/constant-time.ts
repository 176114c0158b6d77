import { timingSafeEqual } from 'node:crypto'

/** Compares secrets in a time that depends on their lengths only; texts by their bytes in UTF-8. */
export function equalInConstantTime(left: string | Uint8Array, right: string | Uint8Array): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
