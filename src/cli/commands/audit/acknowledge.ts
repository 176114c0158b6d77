// `sekisho audit acknowledge`, for platform admins: entries of the audit log are missing, and the admin knows why. The platform
// signs and records it. What this computer remembers of the log is sent along, because it may prove more than the platform's
// own checkpoints.
import { AppError } from '../../../lib/errors.ts'
import { asObject, isJsonObject, objectAt, textAt } from '../../../lib/json/json-value.ts'
import { rememberedHead } from '../../files/audit-head-file.ts'
import { readStatements } from '../../files/checkpoint-file.ts'
import { json, type PlainFormat } from '../../output.ts'
import type { CommandContext } from '../context.ts'

type AcknowledgeOptions = { readonly output: PlainFormat; readonly reason: string; readonly checkpoint?: string }

/** The newest that the platform accepts in one request. */
const maxStatements = 100

/** Rejects with `not_found` when nothing is missing, and with `conflict` when entries were altered. */
export async function auditAcknowledge(context: CommandContext, options: AcknowledgeOptions): Promise<void> {
  const remembered = (await rememberedHead(context.settings))?.statement
  const kept = options.checkpoint === undefined ? [] : await readStatements(options.checkpoint)
  const statements = [...kept, ...(remembered === undefined ? [] : [remembered])].slice(-maxStatements)
  const answer = asObject(await (await context.api()).post('/api/v1/audit/acknowledge', { reason: options.reason, statements }))
  const losses = answer?.['acknowledged']
  if (!Array.isArray(losses) || !losses.every(isJsonObject))
    throw new AppError('upstream_failed', 'the response of the platform is not valid: is this sekisho up to date?')
  if (options.output === 'json') return context.terminal.result(json(losses))
  const lines = losses.map(loss => {
    const remaining = objectAt(loss, 'remaining')
    const lost = objectAt(loss, 'lost')
    return `acknowledged: entries ${Number(remaining?.['sequence']) + 1} to ${String(lost?.['sequence'])} are missing; the log went on at ${textAt(loss, 'resumedAt') ?? ''}`
  })
  context.terminal.result(lines.join('\n'))
}
