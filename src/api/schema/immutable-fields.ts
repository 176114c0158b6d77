// Which fields of a spec nobody changes: the rules of the CustomResourceDefinition and of admission are made from them. Pure.
import { objectAt } from '../../lib/json/json-value.ts'
import type { KindDefinition } from '../kind.ts'

/** The names of the fields that stay as they were made; none of a kind whose spec may change. */
export function immutableFields({ options: { immutableSpec }, specSchema }: KindDefinition): readonly string[] {
  if (immutableSpec === undefined) return []
  const fields = Object.keys(objectAt(specSchema, 'properties') ?? {})
  if (immutableSpec === true) return fields
  const free = 'except' in immutableSpec ? immutableSpec.except : [immutableSpec.setOnce]
  return fields.filter(name => !free.includes(name))
}
