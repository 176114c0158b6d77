// The state of all tokens: which are active on GitHub, which of those the registry knows, and whether the audit log has every
// token's history. GitHub cannot list tokens: one that was minted at the time of a crash stays active for its hour, and nobody
// has it. Such a token is accounted for when the log says so for its intent; every other active token that is not in the
// registry is a leak.
import { credentialKey } from '../../../dev/github/tokens/formats.ts'
import type { AuditEntry } from '../../../src/store/audit/audit-chain.ts'
import { verifyLog } from '../../../src/store/audit/testing/verify-log.ts'
import { type Environment, host } from '../environment/environment.ts'

export type TokenLedger = {
  /** Active on GitHub and in the registry. */
  readonly registered: readonly string[]
  /** Active in the registry, but unknown to GitHub. */
  readonly registeredDead: number
  /** Active on GitHub, not in the registry, and not recorded as lost. */
  readonly leaked: number
  /** Intents without an outcome, in the registry or in the log. */
  readonly open: readonly string[]
  /** Violations of the rules of the audit log. */
  readonly gaps: readonly string[]
}

function aliveKeys({ fixture, account }: Environment): ReadonlyMap<string, Readonly<Record<string, string>>> {
  const { accessTokens } = fixture.github.context.state.credentials
  const alive = Object.entries(accessTokens).flatMap(([key, token]) =>
    token.kind === 'installation' && token.installationId === account.installed.id ? [[key, token.permissions] as const] : [],
  )
  return new Map(alive)
}

async function wholeLog({ store }: Environment): Promise<readonly AuditEntry[]> {
  const entries: AuditEntry[] = []
  for (;;) {
    const page = await store.audit.list({ after: entries.at(-1)?.sequence ?? 0, limit: 1000 })
    entries.push(...page)
    if (page.length < 1000) return entries
  }
}

/** The registry's id of the token that an entry concerns; refusals before an intent have none. */
function tokenOf({ details, object }: AuditEntry): string {
  const { token } = details
  return typeof token === 'string' ? token : `no token of ${object}`
}

function gapsOf(log: readonly AuditEntry[]): { readonly open: readonly string[]; readonly gaps: readonly string[] } {
  const open: string[] = []
  const gaps: string[] = []
  const histories = Map.groupBy(
    log.filter(({ action }) => action.startsWith('token.')),
    tokenOf,
  )
  for (const history of histories.values()) {
    const what = history[0]?.object ?? ''
    const count = (action: string): number => history.filter(entry => entry.action === action).length
    const [intended, minted] = [count('token.intended'), count('token.minted')]
    // A token that the revocation sweep found may have been revoked before its minting was recorded: `token.revoked` covers both.
    const outcomes = minted + count('token.refused') + count('token.revoked')
    if (intended > outcomes) open.push(`${what}: ${intended} intended, ${outcomes} outcomes`)
    // A refusal alone is not a gap: the registry had the intent, the log did not have it yet, so no request was sent to GitHub.
    if (minted > 0 && intended === 0) gaps.push(`${what}: minted without an intent`)
    if (count('token.delivered') > 0 && minted === 0) gaps.push(`${what}: delivered without having been minted`)
  }
  return { open, gaps }
}

/** The reason that the log records for an intent whose outcome was lost. */
const lost = /the process ended before the outcome was known/

export async function tokenLedger(environment: Environment): Promise<TokenLedger> {
  const { installed, app } = environment.account
  const installation = { host, appId: app.id, installationId: installed.id }
  const [live, orphans, log, chain] = await Promise.all([
    environment.store.tokens.liveBy({ installation }),
    environment.store.tokens.orphans(new Date(Date.now() + 86_400_000)),
    wholeLog(environment),
    verifyLog(environment.store.audit),
  ])
  const alive = aliveKeys(environment)
  const known = new Set(live.map(({ token }) => credentialKey(token.reveal())))
  const unknown = [...alive.keys()].filter(key => !known.has(key)).length
  const recordedLost = log.filter(({ action, reason }) => action === 'token.refused' && lost.test(reason)).length
  const { open, gaps } = gapsOf(log)
  return {
    registered: [...alive]
      .filter(([key]) => known.has(key))
      .map(([, permissions]) => JSON.stringify(permissions))
      .sort(),
    registeredDead: [...known].filter(key => !alive.has(key)).length,
    leaked: Math.max(0, unknown - recordedLost),
    open: [...open, ...orphans.map(({ grantName }) => `the registry has an open intent of ${grantName}`)],
    gaps: [...gaps, ...(chain.ok ? [] : [`the chain is broken at ${chain.sequence}: ${chain.problem}`])],
  }
}
