// What became of tokens: which live on GitHub, which of those somebody answers for, and whether the audit log tells the story of every one.
// GitHub has no way to find a token without having it: one that was minted in the moment of a crash lives its hour and reached nobody. Such a
// token is accounted for when the log says so for its intent; everything else that lives and is in no registry is a leak.
import { credentialKey } from '../../../dev/github/tokens/formats.ts'
import type { AuditEntry } from '../../../src/store/audit/audit-chain.ts'
import { host, type World } from '../environment/environment.ts'

export type TokenLedger = {
  /** Alive on GitHub and in the registry. */
  readonly registered: readonly string[]
  /** In the registry as alive, and GitHub does not know them any more. */
  readonly registeredDead: number
  /** Alive on GitHub, in no registry, and not told of as lost. */
  readonly leaked: number
  /** Intents without an outcome, in the registry or in the log. */
  readonly open: readonly string[]
  /** Breaks of the rules of the audit log. */
  readonly gaps: readonly string[]
}

function aliveKeys({ site, account }: World): ReadonlyMap<string, Readonly<Record<string, string>>> {
  const { accessTokens } = site.github.context.state.credentials
  const alive = Object.entries(accessTokens).flatMap(([key, token]) =>
    token.kind === 'installation' && token.installationId === account.installed.id ? [[key, token.permissions] as const] : [],
  )
  return new Map(alive)
}

async function wholeLog({ store }: World): Promise<readonly AuditEntry[]> {
  const entries: AuditEntry[] = []
  for (;;) {
    const page = await store.audit.list({ after: entries.at(-1)?.sequence ?? 0, limit: 1000 })
    entries.push(...page)
    if (page.length < 1000) return entries
  }
}

/** The token that an entry speaks of, by the registry's id; refusals before any intent have none. */
function tokenOf({ details, object }: AuditEntry): string {
  const { token } = details
  return typeof token === 'string' ? token : `no token of ${object}`
}

function gapsOf(log: readonly AuditEntry[]): { readonly open: readonly string[]; readonly gaps: readonly string[] } {
  const open: string[] = []
  const gaps: string[] = []
  const stories = Map.groupBy(
    log.filter(({ action }) => action.startsWith('token.')),
    tokenOf,
  )
  for (const story of stories.values()) {
    const what = story[0]?.object ?? ''
    const count = (action: string): number => story.filter(entry => entry.action === action).length
    const [intended, minted] = [count('token.intended'), count('token.minted')]
    // One that the sweep found under revocation may have ended before its making was told: its end tells both.
    const outcomes = minted + count('token.refused') + count('token.revoked')
    if (intended > outcomes) open.push(`${what}: ${intended} intended, ${outcomes} outcomes`)
    // A refusal alone is no gap: the registry had the intent, the log did not yet, and so GitHub was never asked.
    if (minted > 0 && intended === 0) gaps.push(`${what}: minted without an intent`)
    if (count('token.delivered') > 0 && minted === 0) gaps.push(`${what}: delivered without having been minted`)
  }
  return { open, gaps }
}

/** What the log says of intents whose outcome was lost. */
const lost = /the process ended before the outcome was known/

export async function tokenLedger(world: World): Promise<TokenLedger> {
  const { installed, app } = world.account
  const installation = { host, appId: app.id, installationId: installed.id }
  const [live, orphans, log, chain] = await Promise.all([
    world.store.tokens.liveBy({ installation }),
    world.store.tokens.orphans(new Date(Date.now() + 86_400_000)),
    wholeLog(world),
    world.store.audit.verify(),
  ])
  const alive = aliveKeys(world)
  const known = new Set(live.map(({ token }) => credentialKey(token.reveal())))
  const unknown = [...alive.keys()].filter(key => !known.has(key)).length
  const told = log.filter(({ action, reason }) => action === 'token.refused' && lost.test(reason)).length
  const { open, gaps } = gapsOf(log)
  return {
    registered: [...alive]
      .filter(([key]) => known.has(key))
      .map(([, permissions]) => JSON.stringify(permissions))
      .sort(),
    registeredDead: [...known].filter(key => !alive.has(key)).length,
    leaked: Math.max(0, unknown - told),
    open: [...open, ...orphans.map(({ grantName }) => `the registry has an open intent of ${grantName}`)],
    gaps: [...gaps, ...(chain.ok ? [] : [`the chain is broken at ${chain.sequence}: ${chain.problem}`])],
  }
}
