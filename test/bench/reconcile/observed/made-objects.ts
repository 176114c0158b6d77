// What a controller has made of the Applications of a cold start: how many objects of each kind, and which fields those of one
// Application have. Both sides of a comparison must have made the same, or they were not doing the same work.
import { AppError } from '../../../../src/lib/errors.ts'
import { isJsonObject, objectAt } from '../../../../src/lib/json/json-value.ts'

export type MadeKind = {
  /** How many objects there are. */
  readonly number: number
  /** The fields of the first one's `spec` and `status`, as `fieldsOf` names them. */
  readonly fields: readonly string[]
}

/** By the plural of the kind. */
export type MadeObjects = Readonly<Record<string, MadeKind>>

/**
 * The names of all fields with a value, such as `spec.ports[].name`: sorted, each once. Values are not compared: names and
 * times differ.
 */
export function fieldsOf(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap(item => fieldsOf(item, `${path}[]`)))].toSorted()
  if (!isJsonObject(value)) return [path]
  const below = Object.entries(value).flatMap(([name, field]) => fieldsOf(field, path === '' ? name : `${path}.${name}`))
  return [...new Set(below)].toSorted()
}

/** `items`: the objects of one kind, as a list answers them. */
export function madeKind(items: readonly unknown[]): MadeKind {
  const [first] = items
  const content = isJsonObject(first) ? { spec: objectAt(first, 'spec') ?? {}, status: objectAt(first, 'status') ?? {} } : {}
  return { number: items.length, fields: fieldsOf(content) }
}

/** One sentence for each difference; none when both sides made the same. */
export function differences(ours: MadeObjects, peer: MadeObjects): readonly string[] {
  const kinds = new Set([...Object.keys(ours), ...Object.keys(peer)])
  return [...kinds].toSorted().flatMap(kind => {
    const [left, right] = [ours[kind], peer[kind]]
    const numbers =
      left?.number === right?.number ? [] : [`${kind}: ours made ${left?.number ?? 0}, the peer ${right?.number ?? 0}`]
    const [have, has] = [new Set(left?.fields), new Set(right?.fields)]
    const only = (side: string, fields: ReadonlySet<string>): readonly string[] =>
      fields.size === 0 ? [] : [`${kind}: only ${side} has ${[...fields].join(', ')}`]
    return [...numbers, ...only('ours', have.difference(has)), ...only('the peer', has.difference(have))]
  })
}

export type Side = 'ours' | 'peer'

/**
 * Remembers what each side made last.
 * @throws AppError from the second side on, when both did not make the same
 */
export function createSameWork(): (side: Side, made: MadeObjects) => void {
  const last = new Map<Side, MadeObjects>()
  return (side, made) => {
    last.set(side, made)
    const [ours, peer] = [last.get('ours'), last.get('peer')]
    const found = ours && peer ? differences(ours, peer) : []
    if (found.length > 0) throw new AppError('internal', `the sides do not do the same work: ${found.join('; ')}`)
  }
}
