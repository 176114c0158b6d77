// How outcomes of the audit log read on pages. Pure.
import type { AuditEntry } from '../../../store/audit/audit-chain.ts'
import type { Html } from '../../../web/html.ts'
import { signed } from '../state/sign.ts'

const classes = { allowed: 'ready', denied: 'intended', failed: 'failed' } as const

export function outcomeSign(outcome: AuditEntry['outcome']): Html {
  return signed(classes[outcome], outcome)
}
