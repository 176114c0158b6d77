// Which objects an Application has: the list in its status, what must be added before anything is created, and what is to be
// pruned. Pure.
import type { Application } from '../../../api/apps/application.ts'
import type { KubeObject } from '../../../api/resource.ts'
import { compareText } from '../../../lib/text/compare-text.ts'

export type InventoryEntry = NonNullable<NonNullable<Application['status']>['inventory']>[number]

/** The bound of status.inventory in the schema. */
export const maxEntries = 100

/** The entry as a key of maps: unique within a namespace. */
export function entryText(entry: InventoryEntry): string {
  return `${entry.apiVersion}/${entry.kind}/${entry.name}`
}

function sorted(entries: Iterable<InventoryEntry>): InventoryEntry[] {
  return [...entries].sort((a, b) => compareText(entryText(a), entryText(b)))
}

type Named = Pick<KubeObject, 'apiVersion' | 'kind'> & { readonly metadata: { readonly name: string } }

/** How the inventory names an object. */
export function entryOf({ apiVersion, kind, metadata }: Named): InventoryEntry {
  return { apiVersion, kind, name: metadata.name }
}

/** Sorted, so that equal manifests have equal inventories. */
export function entriesOf(manifests: readonly Named[]): readonly InventoryEntry[] {
  return sorted(manifests.map(entryOf))
}

/** What can exist once the first new object is created. Sorted. */
export function union(current: readonly InventoryEntry[], wanted: readonly InventoryEntry[]): readonly InventoryEntry[] {
  return sorted(new Map([...current, ...wanted].map(entry => [entryText(entry), entry])).values())
}

/**
 * Whether the status must name `wanted` before the first new object is created, so that a crash in between leaks nothing: it
 * must when one of the new objects could not be found again without the inventory (`isFound`).
 */
export function mustBeNamedFirst(
  current: readonly InventoryEntry[],
  wanted: readonly InventoryEntry[],
  isFound: (entry: InventoryEntry) => boolean,
): boolean {
  const named = new Set(current.map(entryText))
  return wanted.some(entry => !named.has(entryText(entry)) && !isFound(entry))
}

/** What is no longer rendered. */
export function obsolete(current: readonly InventoryEntry[], wanted: readonly InventoryEntry[]): readonly InventoryEntry[] {
  const kept = new Set(wanted.map(entryText))
  return current.filter(entry => !kept.has(entryText(entry)))
}
