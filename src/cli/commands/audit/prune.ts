// `sekisho audit prune`, for platform admins: allows that the oldest entries of the audit log are removed. It verifies the whole
// log first, and removes nothing: the program of the database's owner does, and the platform cannot.
import { leastKeptDays, leastKeptMilliseconds } from '../../../api/audit/retention.ts'
import { type AuditCheckpoint, mergedKeys, verifyCheckpoint } from '../../../identity/oidc/audit-checkpoint.ts'
import { AppError } from '../../../lib/errors.ts'
import { asObject, integerAt } from '../../../lib/json/json-value.ts'
import { readCheckpoints, readStatements } from '../../files/checkpoint-file.ts'
import { json, type PlainFormat } from '../../output.ts'
import { saidTime, timeExamples } from '../../times/said-time.ts'
import { ownZone } from '../../times/zoned-time.ts'
import type { CommandContext } from '../context.ts'
import { platformCheckpoints } from './verification/platform-checkpoints.ts'
import { platformKeys, verifyOnline } from './verify.ts'

type AuditPruneOptions = {
  readonly before: string
  readonly reason: string
  readonly checkpoint?: string
  readonly confirm?: boolean
  readonly output: PlainFormat
}

/** Rejects as `auditVerify` when the log does not verify, and with `invalid_request` when nothing can be removed. */
export async function auditPrune(context: CommandContext, options: AuditPruneOptions): Promise<void> {
  const before = timeBefore(context, options.before)
  const verified = await verifyOnline(context, {
    all: true,
    ...(options.checkpoint === undefined ? {} : { checkpoint: options.checkpoint }),
  })
  const found = (await signedHeads(context, options)).filter(
    ({ sequence, attestedAt }) => attestedAt <= before && sequence > verified.start.sequence,
  )
  const cut = found.toSorted((a, b) => a.sequence - b.sequence).at(-1)
  if (cut === undefined)
    throw new AppError(
      'invalid_request',
      `no kept checkpoint is older than ${before.toISOString()} and after the beginning of the log: choose a later time, or give checkpoints that you kept with --checkpoint`,
    )
  const plan = {
    through: cut.sequence,
    entries: cut.sequence - verified.start.sequence,
    attestedAt: cut.attestedAt.toISOString(),
  }
  const left = verified.head.sequence - cut.sequence
  const sentence = `${plan.entries} entries, up to ${plan.through} (head of the log at ${plan.attestedAt}); ${left} stay`
  if (options.confirm !== true) {
    if (options.output === 'json') return context.terminal.result(json({ ...plan, left, approved: null }))
    return context.terminal.result(
      `would allow to remove ${sentence}\nexport them first (sekisho audit export), then say it with --confirm`,
    )
  }
  const body = { reason: options.reason, statement: cut.statement }
  const approval = integerAt(asObject(await (await context.api()).post('/api/v1/audit/prune', body)), 'approval')
  if (options.output === 'json') return context.terminal.result(json({ ...plan, left, approved: approval ?? null }))
  context.terminal.result(
    `allowed to remove ${sentence}\nrecorded as entry ${approval}; the owner of the database removes them: node src/retention/main.ts (docs/guide/audit.md)`,
  )
}

function timeBefore({ clock, say }: CommandContext, text: string): Date {
  const now = clock.now()
  const said = saidTime(text, { now, zone: ownZone() })
  if (said === undefined) throw new AppError('invalid_request', `--before: ${text} is no time; say it as in: ${timeExamples}`)
  if (said.at.getTime() > now.getTime() - leastKeptMilliseconds)
    throw new AppError(
      'invalid_request',
      `--before: ${said.text} is later than ${leastKeptDays} days ago; younger entries are always kept`,
    )
  say(`before ${said.text}`)
  return said.at
}

type SignedHead = AuditCheckpoint & { readonly statement: string }

/** Those that the platform keeps, and those of the user. */
async function signedHeads(context: CommandContext, { checkpoint }: AuditPruneOptions): Promise<readonly SignedHead[]> {
  const { issuer } = context.settings
  const api = await context.api()
  const kept = await platformCheckpoints(api)
  const keys = mergedKeys(await platformKeys(api), kept.keys)
  const own = checkpoint === undefined ? [] : await readStatements(checkpoint)
  const ownKeys = checkpoint === undefined ? [] : (await readCheckpoints(checkpoint, keys, issuer)).keySets
  const heads: SignedHead[] = []
  for (const statement of new Set([...kept.statements, ...own]))
    heads.push({ ...(await verifyCheckpoint(statement, mergedKeys(keys, ...ownKeys), issuer)), statement })
  return heads
}
