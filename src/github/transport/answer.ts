// Reads fields out of GitHub's JSON: the parse boundary. What is missing or of another type is an `upstream_failed` that names the
// field; values are never repeated in the message.
import { AppError } from '../../lib/errors.ts'

export type Answer = Readonly<Record<string, unknown>>

export function recordOf(value: unknown, what: string): Answer {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Answer
  throw unreadable(what, 'is no object')
}

export function listOf(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw unreadable(what, 'is no list')
}

export function objectAt(answer: Answer, field: string, what: string): Answer {
  return recordOf(answer[field], `${what}.${field}`)
}

/** GitHub's ids: positive whole numbers that JavaScript holds exactly. */
export function integerAt(answer: Answer, field: string, what: string): number {
  const value = answer[field]
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  throw unreadable(`${what}.${field}`, 'is no id')
}

export function textAt(answer: Answer, field: string, what: string): string {
  const value = answer[field]
  if (typeof value === 'string') return value
  throw unreadable(`${what}.${field}`, 'is no text')
}

/** Absent and null are the same to GitHub. */
export function optionalTextAt(answer: Answer, field: string, what: string): string | undefined {
  const value = answer[field]
  if (value === undefined || value === null) return undefined
  return textAt(answer, field, what)
}

function unreadable(field: string, problem: string): AppError {
  return new AppError('upstream_failed', `GitHub's answer is not understood: ${field} ${problem}`, {
    reason: 'AnswerNotUnderstood',
  })
}
