// Does an object of the cluster already say what was rendered? Compared before every apply, so that a second reconcile writes nothing.
// Chosen: the hash of the rendering that the object carries (finds every change of what we want, removals too), and that every rendered
// field still has its value (finds drift that others caused). Fields we did not render are not ours and are not looked at.
// Where the server writes a value in another form (quantities) the apply is repeated and changes nothing: no event, no loop. Pure.
import type { KubeObject } from '../../../api/resource.ts'
import { type Manifest, renderedHashAnnotation } from '../desired.ts'

function keyed(list: readonly unknown[], name: string): unknown {
  return list.find(item => typeof item === 'object' && item !== null && 'name' in item && item.name === name)
}

/** The API server leaves a list out that has nothing in it. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** Every field of `wanted` is in `live` with that value. Lists of named items are compared by name (others may have added some). */
export function contains(live: unknown, wanted: unknown): boolean {
  if (Object.is(live, wanted)) return true
  if (Array.isArray(wanted)) {
    if (!Array.isArray(live)) return false
    const named =
      wanted.length > 0 &&
      wanted.every(item => typeof item === 'object' && item !== null && 'name' in item && typeof item.name === 'string')
    if (named) return wanted.every(item => contains(keyed(live, item.name), item))
    return live.length === wanted.length && wanted.every((item, index) => contains(live[index], item))
  }
  return isFields(wanted) && isFields(live) && containsFields(live, wanted)
}

type Fields = Readonly<Record<string, unknown>>

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

/** Only own fields count: a label such as `constructor` must not be found on the prototype. */
function containsFields(live: Fields, wanted: Fields): boolean {
  for (const [key, value] of Object.entries(wanted)) {
    if (value === undefined) continue
    if (!(Object.hasOwn(live, key) ? contains(live[key], value) : isEmptyList(value))) return false
  }
  return true
}

export function needsApply(manifest: Manifest, live: KubeObject): boolean {
  if (live.metadata.annotations?.[renderedHashAnnotation] !== manifest.metadata.annotations[renderedHashAnnotation]) return true
  return !contains(live, manifest)
}
