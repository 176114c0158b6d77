// Entries of the audit log as the platform sends them: nothing is verified yet.
import { AppError } from '../../../lib/errors.ts'
import type { ChainLink } from '../../../lib/hash-chain/hash-chain.ts'
import { asObject, textAt } from '../../../lib/json/json-value.ts'
import { isHead } from '../../files/audit-head-file.ts'

export type Entry = ChainLink & Readonly<Record<string, unknown>>

export function isEntry(value: unknown): value is Entry {
  return isHead(value) && textAt(asObject(value), 'previousHash') !== undefined
}

/** Throws `integrity_violation` unless every value has the form of an entry. */
export function entriesOf(values: readonly unknown[]): readonly Entry[] {
  if (values.every(isEntry)) return values
  throw new AppError('integrity_violation', 'the platform sent data that is not an audit entry')
}
