// `sekisho onboardings list|approve|refuse`, for platform admins: accounts that are not listed in the platform's settings.
import { AppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import { asObject, isJsonObject, objectAt, textAt } from '../../lib/json/json-value.ts'
import { json, type PlainFormat, table } from '../output.ts'
import type { CommandContext } from './context.ts'

type Options = { readonly output: PlainFormat }
type DecisionOptions = Options & { readonly argument: string }

function invalidAnswer(): AppError {
  return new AppError('upstream_failed', 'the response of the platform is not valid: is this sekisho up to date?')
}

function row(value: unknown): readonly string[] {
  const onboarding = asObject(value)
  const account = objectAt(onboarding, 'account')
  const requestedBy = objectAt(onboarding, 'requestedBy')
  return [
    textAt(onboarding, 'id') ?? '',
    textAt(account, 'login') ?? '',
    String(account?.['id'] ?? ''),
    textAt(account, 'type') ?? '',
    textAt(requestedBy, 'login') ?? '',
    textAt(requestedBy, 'user') ?? '',
    textAt(onboarding, 'since') ?? '',
    String(onboarding?.['repositories'] ?? ''),
  ]
}

/** Prints the onboardings that wait for a platform admin, oldest first. */
export async function onboardingsList(context: CommandContext, options: Options): Promise<void> {
  const answer = asObject(await (await context.api()).json('/api/v1/onboardings'))
  const waiting = answer?.['onboardings']
  if (!Array.isArray(waiting) || !waiting.every(isJsonObject)) throw invalidAnswer()
  if (options.output === 'json') return context.terminal.result(json(waiting))
  if (waiting.length === 0) return context.say('no onboarding waits for a platform admin')
  const headers = ['ID', 'ACCOUNT', 'ACCOUNT ID', 'TYPE', 'REQUESTED BY', 'USER', 'SINCE', 'REPOSITORIES']
  context.terminal.result(table(headers, waiting.map(row)))
}

async function decide(
  context: CommandContext,
  { argument: onboarding, output }: DecisionOptions,
  request: { readonly verb: 'approve' | 'refuse'; readonly reason?: string | undefined },
): Promise<void> {
  const { verb, reason } = request
  const body = { onboarding, ...defined({ reason }) }
  const answer = asObject(await (await context.api()).post(`/api/v1/onboardings/${verb}`, body))
  const decision = textAt(answer, 'decision')
  if (decision === undefined) throw invalidAnswer()
  if (output === 'json') context.terminal.result(json(answer ?? {}))
  else context.terminal.result(`onboarding ${onboarding} ${decision}`)
}

/** Approves one; the requester's proof is made again first. */
export function onboardingsApprove(context: CommandContext, options: DecisionOptions): Promise<void> {
  return decide(context, options, { verb: 'approve' })
}

/** Refuses one; the requester reads the reason. */
export function onboardingsRefuse(
  context: CommandContext,
  options: DecisionOptions & { readonly reason?: string },
): Promise<void> {
  return decide(context, options, { verb: 'refuse', reason: options.reason })
}
