// Says what a verification found: for programs, and in sentences.
import type { AuditCut } from '../../../../identity/oidc/audit-checkpoint.ts'
import type { AttestedHead, ChainHead } from '../../../../lib/hash-chain/attested-heads.ts'
import { json, type PlainFormat } from '../../../output.ts'
import type { CommandContext } from '../../context.ts'
import type { VerifiedEntries } from './verify-entries.ts'

export type Verified = VerifiedEntries & {
  /** The entry after which reading began. */
  readonly from: ChainHead
  /** The entry after which the log begins. */
  readonly start: ChainHead
  readonly cut: AuditCut | undefined
  readonly remembered: AttestedHead | undefined
  /** How many kept checkpoints were given. */
  readonly checkpoints: number
  /** When everything was read last. */
  readonly completeAt: Date
}

export function showVerified({ terminal, settings }: CommandContext, output: PlainFormat, verified: Verified): void {
  const { head, start, from, read, losses, cut } = verified
  const remembered = verified.remembered && { sequence: verified.remembered.sequence, hash: verified.remembered.hash }
  const entries = head.sequence - start.sequence
  if (output === 'json') {
    const pruned = cut === undefined ? null : { through: cut.sequence, by: cut.by, at: cut.at.toISOString() }
    const { checkpoints } = verified
    terminal.result(
      json({ ok: true, entries, read, head, signed: true, remembered: remembered ?? null, checkpoints, losses, pruned }),
    )
    return
  }
  const earlier =
    from.sequence > start.sequence
      ? `\nentries up to ${from.sequence} were read on ${verified.completeAt.toISOString().slice(0, 10)} and are not read again; --all reads everything`
      : ''
  const compared = verified.checkpoints === 0 ? '' : `; compared with ${verified.checkpoints} kept checkpoints`
  const missing = losses.map(
    ({ from: first, to, by, at }) =>
      `\nentries ${first} to ${to} are missing: acknowledged by ${by} at ${at}, see audit.loss-acknowledged`,
  )
  terminal.result(
    `audit log verified: ${entries} entries, head ${head.hash}, signed by ${settings.issuer}; ${sinceText(verified)}${compared}${cutText(cut)}${missing.join('')}${earlier}`,
  )
}

/** For people: from where the log is, when its beginning was removed. */
export function cutText(cut: AuditCut | undefined): string {
  if (cut === undefined) return ''
  return `\nentries up to ${cut.sequence} were pruned: ${cut.by} approved it at ${cut.at.toISOString()}, and the platform signed it`
}

function sinceText({ remembered, losses, start }: Verified): string {
  if (remembered === undefined) return 'first verification on this computer'
  const { sequence } = remembered
  if (sequence < start.sequence) return `entry ${sequence}, verified last, was pruned since`
  if (losses.some(({ from, to }) => sequence >= from && sequence <= to))
    return `entry ${sequence}, verified last, is among the missing ones`
  return `entry ${sequence} is unchanged since the last verification`
}
