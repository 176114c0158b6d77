// How many installation tokens may be alive, for metrics.
import type { PrismaClient } from '../generated/client.ts'

/**
 * `live`: they can be delivered. `revoking`: their revocation began, and GitHub has not confirmed it. `suspended`: the same of an
 * installation that is suspended, so that they can be used for nothing.
 */
export type TokenCounts = { readonly live: number; readonly revoking: number; readonly suspended: number }

export async function countTokens(tokens: PrismaClient['tokenRow'], now: Date): Promise<TokenCounts> {
  const groups = await tokens.groupBy({
    by: ['state', 'suspended'],
    where: { state: { in: ['minted', 'revoking'] }, expiresAt: { gt: now } },
    _count: true,
  })
  const sum = (isOf: (group: (typeof groups)[number]) => boolean): number =>
    groups.filter(isOf).reduce((total, { _count }) => total + _count, 0)
  return {
    live: sum(({ state }) => state === 'minted'),
    revoking: sum(({ state, suspended }) => state === 'revoking' && !suspended),
    suspended: sum(({ state, suspended }) => state === 'revoking' && suspended),
  }
}
