// Shapes of fields that several routes take. Ids come as text and are read strictly: no hex, no sign, no list, nothing JavaScript rounds.
import { type Static, Type } from '@fastify/type-provider-typebox'

export const idText = Type.String({ pattern: '^[1-9][0-9]{0,14}$', description: 'a numeric id' })
export const handleText = Type.String({ minLength: 20, maxLength: 200, pattern: '^[A-Za-z0-9_-]+$' })
export const csrfText = Type.String({ maxLength: 100 })

/** A checkbox that may come not at all, once or many times. */
export const idTexts = Type.Optional(Type.Union([idText, Type.Array(idText, { maxItems: 100 })]))

export function numbersOf(texts: Static<typeof idTexts> | undefined): readonly number[] {
  if (texts === undefined) return []
  return (typeof texts === 'string' ? [texts] : texts).map(Number)
}
