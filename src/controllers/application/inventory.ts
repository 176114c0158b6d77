// Which objects an Application has: the list in its status, what must be added before anything new is made, what is to be pruned. Pure.
import type { Application } from '../../api/application.ts'
import type { Manifest } from './desired.ts'

export type InventoryEntry = NonNullable<NonNullable<Application['status']>['inventory']>[number]

/** What the schema of status.inventory can hold. */
export const mostEntries = 100

export function entryText(entry: InventoryEntry): string {
  return `${entry.apiVersion}/${entry.kind}/${entry.name}`
}

function sorted(entries: Iterable<InventoryEntry>): InventoryEntry[] {
  return [...entries].sort((a, b) => (entryText(a) < entryText(b) ? -1 : 1))
}

export function entryOf({ apiVersion, kind, metadata }: Manifest): InventoryEntry {
  return { apiVersion, kind, name: metadata.name }
}

export function entriesOf(manifests: readonly Manifest[]): readonly InventoryEntry[] {
  return sorted(manifests.map(entryOf))
}

/** What the status must say before the first new object is made: a crash in between then leaks nothing. */
export function union(current: readonly InventoryEntry[], wanted: readonly InventoryEntry[]): readonly InventoryEntry[] {
  return sorted(new Map([...current, ...wanted].map(entry => [entryText(entry), entry])).values())
}

/** What was made once and is no longer rendered. */
export function obsolete(current: readonly InventoryEntry[], wanted: readonly InventoryEntry[]): readonly InventoryEntry[] {
  const kept = new Set(wanted.map(entryText))
  return current.filter(entry => !kept.has(entryText(entry)))
}
