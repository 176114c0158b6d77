// What is counted of the token desk. Labels are closed lists of the code: never a tenant, a repository, a grant or a person.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { githubReasonTexts } from '../../../github/index.ts'
import type { TokenCounts } from '../../../store/token-registry.ts'
import { refusalTexts } from '../checks.ts'

/** Why a request ended without a token: a check of the desk, the quota, a reason of GitHub, or something else. */
const refusalReasons = [...Object.keys(refusalTexts), 'QuotaExceeded', ...Object.keys(githubReasonTexts), 'Other'] as const

export type DeskMetrics = {
  readonly delivered: (seconds: number) => void
  /** A reason that is not in the list counts as `Other`. */
  readonly refused: (reason: string | undefined, seconds: number) => void
  readonly minted: (result: 'minted' | 'failed', seconds: number) => void
  /** `pending`: GitHub did not confirm one of them yet. */
  readonly revoked: (result: 'revoked' | 'pending', seconds: number) => void
  /** Undefined: not known. */
  readonly tokens: (counts: TokenCounts | undefined) => void
}

const buckets = [0.05, 0.25, 1, 2.5, 5, 15, 60]

/** Register it once per registry. */
export function createDeskMetrics(registry: Registry): DeskMetrics {
  const registers = [registry]
  const histogram = (name: string, help: string) => new Histogram({ name, help, labelNames: ['result'], buckets, registers })
  const delivered = new Counter({
    name: 'sekisho_tokens_delivered_total',
    help: 'Tokens that the token desk delivered to workloads and controllers; one token may be delivered often.',
    registers,
  })
  const refusals = new Counter({
    name: 'sekisho_token_refusals_total',
    help: 'Requests that ended without a token: refused by a check of the token desk, by the quota, by GitHub, or failed otherwise.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of refusalReasons) refusals.inc({ reason }, 0)
  const requests = histogram(
    'sekisho_token_request_duration_seconds',
    'Time until the token desk answered a request for a token.',
  )
  for (const result of ['delivered', 'refused']) requests.zero({ result })
  const mints = histogram(
    'sekisho_token_mint_duration_seconds',
    'Time from the intent to a token that is recorded and can be delivered, or until that failed.',
  )
  for (const result of ['minted', 'failed']) mints.zero({ result })
  const revocations = histogram(
    'sekisho_token_revocation_duration_seconds',
    'Time to revoke all tokens of what ended, such as a grant; pending: GitHub did not confirm one of them yet.',
  )
  for (const result of ['revoked', 'pending']) revocations.zero({ result })
  const tokens = new Gauge({
    name: 'sekisho_tokens',
    help: 'Installation tokens that have not expired: live (can be delivered), revoking (GitHub has not confirmed the revocation) or suspended (the same, of a suspended installation). NaN while the database does not answer. Every replica reports the same.',
    labelNames: ['state'],
    registers,
  })
  return {
    delivered(seconds) {
      delivered.inc()
      requests.observe({ result: 'delivered' }, seconds)
    },
    refused(reason, seconds) {
      refusals.inc({ reason: refusalReasons.find(known => known === reason) ?? 'Other' })
      requests.observe({ result: 'refused' }, seconds)
    },
    minted: (result, seconds) => mints.observe({ result }, seconds),
    revoked: (result, seconds) => revocations.observe({ result }, seconds),
    tokens(counts) {
      for (const state of ['live', 'revoking', 'suspended'] as const) tokens.set({ state }, counts?.[state] ?? Number.NaN)
    },
  }
}
