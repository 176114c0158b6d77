// `sekisho sessions list` and `sekisho sessions revoke`, for platform admins; and what `sekisho logout --everywhere` asks of
// the platform.
import { AppError } from '../../lib/errors.ts'
import { asObject, integerAt, isJsonObject, textAt } from '../../lib/json/json-value.ts'
import { json, type PlainFormat, table } from '../output.ts'
import type { CommandContext } from './context.ts'

type Options = { readonly output: PlainFormat }

export type EndedSignIns = { readonly user: string; readonly webSessions: number; readonly programs: number }

function isEnded(value: unknown): value is EndedSignIns {
  if (!isJsonObject(value) || textAt(value, 'user') === undefined) return false
  return integerAt(value, 'webSessions') !== undefined && integerAt(value, 'programs') !== undefined
}

function invalidAnswer(): AppError {
  return new AppError('upstream_failed', 'the response of the platform is not valid: is this sekisho up to date?')
}

function endedIn(answer: unknown): EndedSignIns {
  if (isEnded(answer)) return answer
  throw invalidAnswer()
}

/** Prints everybody who is signed in. */
export async function sessionsList(context: CommandContext, options: Options): Promise<void> {
  const answer = asObject(await (await context.api()).json('/api/v1/sessions'))
  const people = answer?.['people']
  if (!Array.isArray(people) || !people.every(isEnded)) throw invalidAnswer()
  if (options.output === 'json') return context.terminal.result(json(people))
  const rows = people.map(person => [
    person.user,
    textAt(asObject(person), 'login') ?? '',
    String(person.webSessions),
    String(person.programs),
  ])
  context.terminal.result(table(['USER', 'LOGIN', 'WEB SESSIONS', 'PROGRAMS'], rows))
}

function summary({ webSessions, programs }: EndedSignIns): string {
  return `web sessions: ${webSessions}, sign-ins of programs: ${programs}; access tokens that were issued before work for ten minutes at most`
}

/** Ends all sign-ins of a person. */
export async function sessionsRevoke(context: CommandContext, options: Options & { readonly argument: string }): Promise<void> {
  const ended = endedIn(await (await context.api()).post('/api/v1/sessions/revoke', { user: options.argument }))
  if (options.output === 'json') context.terminal.result(json(ended))
  else context.terminal.result(`ended all sign-ins of ${ended.user}: ${summary(ended)}`)
}

/** Ends all sign-ins of the user at the platform; this computer still has its tokens. */
export async function signOutEverywhere(
  context: CommandContext,
): Promise<{ readonly ended: EndedSignIns; readonly text: string }> {
  const ended = endedIn(await (await context.api()).post('/api/v1/sessions/sign-out', {}))
  return { ended, text: `signed out everywhere: ${summary(ended)}` }
}
