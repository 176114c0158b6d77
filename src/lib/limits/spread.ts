// Spreads work that becomes due for many objects at the same time.
import { createHash } from 'node:crypto'

/** A factor between 0.9 and 1.1 that is always the same for the same text, such as a uid. */
export function spreadOf(text: string): number {
  return 0.9 + (0.2 * createHash('sha256').update(text).digest().readUInt32BE(0)) / 2 ** 32
}
