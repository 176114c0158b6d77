// Compares what GitHub minted with what was asked for: a token leaves only when it reaches exactly the repositories and at most the
// permissions of the wish. `metadata: read` is added by GitHub to every token and reads no content. Pure.
// Source: https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
import type { MintedToken } from '../github/index.ts'

export type MintWish = {
  readonly repositoryIds: readonly number[]
  readonly permissions: Readonly<Record<string, string>>
}

export type Difference = { readonly kind: 'wider' | 'narrower' | 'unusable'; readonly message: string }

const levels = ['read', 'write', 'admin']
const longestLifeMilliseconds = 2 * 60 * 60 * 1000

/** The first difference that matters, the dangerous ones first; undefined when the token is what was asked for. */
export function differenceOf(
  wish: MintWish,
  minted: Pick<MintedToken, 'repositoryIds' | 'permissions' | 'expiresAt'>,
  now: Date,
) {
  return wider(wish, minted) ?? unusable(minted.expiresAt, now) ?? narrower(wish, minted)
}

function wider(wish: MintWish, minted: Pick<MintedToken, 'repositoryIds' | 'permissions'>): Difference | undefined {
  const wanted = new Set(wish.repositoryIds)
  const extra = minted.repositoryIds.find(id => !wanted.has(id))
  if (extra !== undefined)
    return { kind: 'wider', message: `GitHub's token reaches repository ${extra}, which was not asked for` }
  for (const [name, level] of Object.entries(minted.permissions)) {
    const most = wish.permissions[name] ?? (name === 'metadata' ? 'read' : '')
    // A level we do not know is above every level we know.
    const rank = levels.includes(level) ? levels.indexOf(level) : levels.length
    if (rank > levels.indexOf(most))
      return { kind: 'wider', message: `GitHub's token has ${name}: ${level}, which was not asked for` }
  }
  return undefined
}

function unusable(expiresAt: Date, now: Date): Difference | undefined {
  const life = expiresAt.getTime() - now.getTime()
  if (life > 0 && life <= longestLifeMilliseconds) return undefined
  return { kind: 'unusable', message: "GitHub's token is expired already or lives longer than tokens do: is our clock right?" }
}

function narrower(wish: MintWish, minted: Pick<MintedToken, 'repositoryIds' | 'permissions'>): Difference | undefined {
  const reached = new Set(minted.repositoryIds)
  const missing = wish.repositoryIds.find(id => !reached.has(id))
  if (missing !== undefined) return { kind: 'narrower', message: `GitHub's token does not reach repository ${missing}` }
  const lacking = Object.entries(wish.permissions).find(
    ([name, level]) => levels.indexOf(minted.permissions[name] ?? '') < levels.indexOf(level),
  )
  return lacking && ({ kind: 'narrower', message: `GitHub's token lacks ${lacking[0]}: ${lacking[1]}` } as const)
}
