// Which objects an Application has: the list in its status, what must be added before anything new is made, what is to be pruned. Pure.
import type { Application } from '../../../api/apps/application.ts'
import type { KubeObject } from '../../../api/resource.ts'

export type InventoryEntry = NonNullable<NonNullable<Application['status']>['inventory']>[number]

/** What the schema of status.inventory can hold. */
export const mostEntries = 100

export function entryText(entry: InventoryEntry): string {
  return `${entry.apiVersion}/${entry.kind}/${entry.name}`
}

function sorted(entries: Iterable<InventoryEntry>): InventoryEntry[] {
  return [...entries].sort((a, b) => (entryText(a) < entryText(b) ? -1 : 1))
}

type Named = Pick<KubeObject, 'apiVersion' | 'kind'> & { readonly metadata: { readonly name: string } }

export function entryOf({ apiVersion, kind, metadata }: Named): InventoryEntry {
  return { apiVersion, kind, name: metadata.name }
}

export function entriesOf(manifests: readonly Named[]): readonly InventoryEntry[] {
  return sorted(manifests.map(entryOf))
}

/** What may be there once something new is made. */
export function union(current: readonly InventoryEntry[], wanted: readonly InventoryEntry[]): readonly InventoryEntry[] {
  return sorted(new Map([...current, ...wanted].map(entry => [entryText(entry), entry])).values())
}

/**
 * Whether the status must name `wanted` before the first new object is made, so that a crash in between leaks nothing: it must where one
 * of them could not be found again without it.
 */
export function mustBeNamedFirst(
  current: readonly InventoryEntry[],
  wanted: readonly InventoryEntry[],
  isFound: (entry: InventoryEntry) => boolean,
): boolean {
  const named = new Set(current.map(entryText))
  return wanted.some(entry => !named.has(entryText(entry)) && !isFound(entry))
}

/** What was made once and is no longer rendered. */
export function obsolete(current: readonly InventoryEntry[], wanted: readonly InventoryEntry[]): readonly InventoryEntry[] {
  const kept = new Set(wanted.map(entryText))
  return current.filter(entry => !kept.has(entryText(entry)))
}
