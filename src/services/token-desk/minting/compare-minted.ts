// Compares the token that GitHub minted with the intent: it is delivered only when it reaches exactly the intended repositories
// and has at most the intended permissions. `metadata: read` is added by GitHub to every token and reads no content. Pure.
// Source: https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
import type { MintedToken } from '../../../github/index.ts'
import { isWithinLevel, permissionAbove } from '../../../policy/permission-level.ts'
import type { TokenIntent } from '../../../store/token-registry.ts'

type Reach = Pick<TokenIntent, 'repositoryIds' | 'permissions'>

/** `unusable`: its lifetime cannot be right. */
export type Difference = { readonly kind: 'wider' | 'narrower' | 'unusable'; readonly message: string }

/** An hour, and some seconds by which two of GitHub's servers may differ. */
const maxLifeMilliseconds = 65 * 60_000
/** What the desk promises for a delivered token: one with less would be minted again at the next request. */
const shortestLifeMilliseconds = 10 * 60_000

/** The first difference that matters, the dangerous ones first; undefined when the token is what was intended. */
export function differenceOf(
  intent: Reach,
  minted: Pick<MintedToken, 'repositoryIds' | 'repositories' | 'permissions' | 'expiresAt'>,
  now: Date,
): Difference | undefined {
  return wider(intent, minted) ?? unusable(minted.expiresAt, now) ?? narrower(intent, minted)
}

function wider(intent: Reach, minted: Reach & Pick<MintedToken, 'repositories'>): Difference | undefined {
  const extra = minted.repositoryIds.find(id => !intent.repositoryIds.includes(id))
  if (extra !== undefined) {
    const name = minted.repositories.find(({ id }) => id === extra)?.fullName
    const repository = name === undefined ? `repository ${extra}` : `${name} (id ${extra})`
    return { kind: 'wider', message: `GitHub's token reaches ${repository}, which was not requested` }
  }
  const above = permissionAbove(minted.permissions, intent.permissions)
  return above === undefined ? undefined : { kind: 'wider', message: `GitHub's token has ${above}, which was not requested` }
}

function unusable(expiresAt: Date, now: Date): Difference | undefined {
  const life = expiresAt.getTime() - now.getTime()
  if (life >= shortestLifeMilliseconds && life <= maxLifeMilliseconds) return undefined
  const message = "GitHub's token ends within ten minutes, or lives longer than an hour: is the clock of this process right?"
  return { kind: 'unusable', message }
}

function narrower(intent: Reach, minted: Reach): Difference | undefined {
  const missing = intent.repositoryIds.find(id => !minted.repositoryIds.includes(id))
  if (missing !== undefined) return { kind: 'narrower', message: `GitHub's token does not reach repository ${missing}` }
  const lacking = Object.entries(intent.permissions).find(([name, level]) => !isWithinLevel(level, minted.permissions[name]))
  return lacking && { kind: 'narrower', message: `GitHub's token lacks ${lacking[0]}: ${lacking[1]}` }
}
