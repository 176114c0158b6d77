// Reads fields of GitHub's JSON: the parse boundary. A field that is missing or of another type is an `upstream_failed` that
// names the field; messages never repeat values. `what` is the path of the object for that message.
import { AppError } from '../../lib/errors.ts'
import { isJsonObject, type JsonObject } from '../../lib/json/json-value.ts'

/** An object of GitHub's JSON, whose fields are not checked yet. */
export type Answer = JsonObject

/** The value itself, which must be an object. */
export function recordOf(value: unknown, what: string): Answer {
  if (isJsonObject(value)) return value
  throw unreadable(what, 'is not an object')
}

/** The value itself, which must be a list. */
export function listOf(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw unreadable(what, 'is not a list')
}

/** The object of a field. */
export function objectAt(answer: Answer, field: string, what: string): Answer {
  return recordOf(answer[field], `${what}.${field}`)
}

/** The id of a field: GitHub's ids are positive whole numbers; one that JavaScript would round is refused. */
export function integerAt(answer: Answer, field: string, what: string): number {
  const value = answer[field]
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  throw unreadable(`${what}.${field}`, 'is not an id')
}

/** The text of a field. */
export function textAt(answer: Answer, field: string, what: string): string {
  const value = answer[field]
  if (typeof value === 'string') return value
  throw unreadable(`${what}.${field}`, 'is not a text')
}

/** The text of a field, or undefined: absent and null are the same to GitHub. */
export function optionalTextAt(answer: Answer, field: string, what: string): string | undefined {
  const value = answer[field]
  if (value === undefined || value === null) return undefined
  return textAt(answer, field, what)
}

function unreadable(field: string, defect: string): AppError {
  return new AppError('upstream_failed', `GitHub's answer is not understood: ${field} ${defect}`, {
    reason: 'AnswerNotUnderstood',
  })
}
