// Whether a live object differs from its manifest. Asked before every apply, so that a second reconcile writes nothing. Pure.
// Two comparisons: the hash annotation finds every change of what is rendered, removals included; the rendered fields find what
// others changed. Fields that were not rendered belong to others and are ignored. Where the server stores a value in another
// form (quantities), the apply is repeated and changes nothing: no event, no loop.
import type { KubeObject } from '../../../api/resource.ts'
import { isJsonObject, type JsonObject } from '../../../lib/json/json-value.ts'
import { type Manifest, renderedHashAnnotation } from '../rendering/desired.ts'

function isNamed(item: unknown): item is { readonly name: string } {
  return isJsonObject(item) && typeof item['name'] === 'string'
}

function itemNamed(list: readonly unknown[], name: string): unknown {
  return list.find(item => isJsonObject(item) && item['name'] === name)
}

/** The API server omits empty lists. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/**
 * Whether every field of `wanted` has its value in `live`. Lists of named items are compared by name: others may add items,
 * such as sidecars.
 */
export function contains(live: unknown, wanted: unknown): boolean {
  if (Object.is(live, wanted)) return true
  if (Array.isArray(wanted)) {
    if (!Array.isArray(live)) return false
    if (wanted.length > 0 && wanted.every(isNamed)) return wanted.every(item => contains(itemNamed(live, item.name), item))
    return live.length === wanted.length && wanted.every((item, index) => contains(live[index], item))
  }
  return isJsonObject(wanted) && isJsonObject(live) && containsFields(live, wanted)
}

/** Reads own fields only: a label such as `constructor` must not be found on the prototype. */
function containsFields(live: JsonObject, wanted: JsonObject): boolean {
  for (const [key, value] of Object.entries(wanted)) {
    if (value === undefined) continue
    if (!(Object.hasOwn(live, key) ? contains(live[key], value) : isEmptyList(value))) return false
  }
  return true
}

/** True when applying the manifest would change the object. */
export function needsApply(manifest: Manifest, live: KubeObject): boolean {
  if (live.metadata.annotations?.[renderedHashAnnotation] !== manifest.metadata.annotations[renderedHashAnnotation]) return true
  return !contains(live, manifest)
}
