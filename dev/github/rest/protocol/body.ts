// Reads fields of a JSON body from an outsider. Every field has a bound; a wrong one is refused with 422 and its name.
import { invalidField, RestError } from './answer.ts'

export type Fields = {
  text(field: string, longest: number): string
  optionalText(field: string, longest: number): string | undefined
  optionalBoolean(field: string): boolean | undefined
  optionalNumber(field: string): number | undefined
  optionalOneOf<Choice extends string>(field: string, choices: readonly Choice[]): Choice | undefined
  optionalTexts(field: string, most: number): readonly string[] | undefined
  optionalNumbers(field: string, most: number): readonly number[] | undefined
  optionalRecord(field: string): Readonly<Record<string, unknown>> | undefined
  has(field: string): boolean
  raw(field: string): unknown
}

/** The fields of a body; an absent body counts as `{}`. `resource` names the thing in error reports. */
export function fieldsOf(body: unknown, resource: string): Fields {
  if (body !== undefined && body !== null && (typeof body !== 'object' || Array.isArray(body))) {
    throw new RestError(400, 'Body should be a JSON object')
  }
  const values: Readonly<Record<string, unknown>> = { ...(body ?? {}) }
  const wrong = (field: string): RestError => invalidField(resource, field, 'invalid')
  const list = (field: string, most: number): readonly unknown[] | undefined => {
    const value = values[field]
    if (value === undefined || value === null) return undefined
    if (!Array.isArray(value) || value.length > most) throw wrong(field)
    return value
  }
  const optionalText = (field: string, longest: number): string | undefined => {
    const value = values[field]
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'string' || value.length > longest) throw wrong(field)
    return value
  }
  return {
    optionalText,
    text: (field, longest) => {
      const value = optionalText(field, longest)
      if (value === undefined || value === '') throw invalidField(resource, field, 'missing_field')
      return value
    },
    optionalBoolean: field => {
      const value = values[field]
      if (value === undefined || value === null) return undefined
      if (typeof value !== 'boolean') throw wrong(field)
      return value
    },
    optionalNumber: field => {
      const value = values[field]
      if (value === undefined || value === null) return undefined
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(field)
      return value
    },
    optionalOneOf: (field, choices) => {
      const value = optionalText(field, 100)
      if (value === undefined) return undefined
      const choice = choices.find(one => one === value)
      if (choice === undefined) throw wrong(field)
      return choice
    },
    optionalTexts: (field, most) =>
      list(field, most)?.map(value => {
        if (typeof value !== 'string' || value.length > 1000) throw wrong(field)
        return value
      }),
    optionalNumbers: (field, most) =>
      list(field, most)?.map(value => {
        if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(field)
        return value
      }),
    optionalRecord: field => {
      const value = values[field]
      if (value === undefined || value === null) return undefined
      if (typeof value !== 'object' || Array.isArray(value)) throw wrong(field)
      return { ...value }
    },
    has: field => values[field] !== undefined && values[field] !== null,
    raw: field => values[field],
  }
}
