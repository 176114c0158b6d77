// From the name in a URL to a repository of the grant and the name that it has now: ids are what the grant reaches, and names
// pass to others. GitHub is asked about ids of the grant only.
import type { RepositoryClient } from '../../../github/index.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import { type Clock, elapsed } from '../../../lib/clock.ts'
import { SingleFlight } from '../../../lib/single-flight.ts'
import type { DeliveredToken } from '../../token-desk/token-desk.ts'

/** A repository, and its name at GitHub now. */
export type NamedRepository = { readonly id: number; readonly fullName: string }

/** The grant by which it is asked, and its token. */
type Where = {
  readonly grantUid: string
  readonly token: DeliveredToken
  /** With it begins what git does: nothing that was learned before counts. */
  readonly advertises: boolean
}

export type RepositoryNames = {
  /**
   * The repository of the grant that `name` (`owner/name`) means: the one that has this name now, else the one that had it when
   * the grant was checked last. Undefined when none does, or GitHub does not have it any more.
   */
  readonly find: (name: string, where: Where) => Promise<NamedRepository | undefined>
  /** GitHub said something else about the name: it is asked again. */
  readonly forget: (grantUid: string, id: number) => void
}

type Remembered = { readonly fullName: string | undefined; readonly at: number }

/** What is no longer the name of a repository: it decides only which others are asked. */
const rememberMilliseconds = 60_000
/** Within one fetch: names pass to strangers, whose repositories may be public. */
const freshMilliseconds = 5000
const maxRemembered = 5000
const isSame = (a: string | undefined, b: string): boolean => a?.toLowerCase() === b.toLowerCase()

// Memory (names of repositories behind the git proxy): grant and repository id → name at GitHub
//   life: a minute
//   bound: 5,000 names, the one learned longest ago forgotten first
//   freshness: five seconds for the name that goes to GitHub, none where git begins; a minute for those that are not asked for
//   replicas: each asks

// Memory (names that are being asked for): grant and repository id → the answer
//   life: until it settles
//   bound: requests in progress
//   freshness: its end
//   replicas: each asks
/** `open` makes the client of GitHub for a token. */
export function createRepositoryNames(
  open: (token: DeliveredToken) => Pick<RepositoryClient, 'repository'>,
  clock: Clock,
): RepositoryNames {
  const remembered = new BoundedMap<Remembered>(maxRemembered)
  const asking = new SingleFlight<string | undefined>()
  const keyOf = (grantUid: string, id: number): string => `${grantUid} ${id}`
  /** Learned at `since` or later. */
  const nameOf = async (id: number, { grantUid, token }: Where, since: number): Promise<string | undefined> => {
    const key = keyOf(grantUid, id)
    const known = remembered.get(key)
    if (known !== undefined && known.at >= since) return known.fullName
    return asking.run(key, async () => {
      const at = elapsed(clock)
      const fullName = (await open(token).repository(id))?.fullName
      remembered.set(key, { fullName, at })
      return fullName
    })
  }
  /** One after the other: a grant has at most fifty, and those that have another name are asked at most once a minute. */
  const presentlyNamed = async (
    name: string,
    ids: readonly number[],
    { since, now, ...where }: Where & { readonly since: number; readonly now: number },
  ): Promise<NamedRepository | undefined> => {
    for (const id of ids) {
      if (!isSame(await nameOf(id, where, now - rememberMilliseconds), name)) continue
      const fullName = await nameOf(id, where, since)
      if (fullName !== undefined && isSame(fullName, name)) return { id, fullName }
    }
    return undefined
  }
  return {
    async find(name, where) {
      const now = elapsed(clock)
      const since = where.advertises ? now : now - freshMilliseconds
      const { repositories } = where.token
      const decided = repositories.find(({ fullName }) => isSame(fullName, name))?.id
      const others = repositories.map(({ id }) => id).filter(id => id !== decided)
      const ids = decided === undefined ? others : [decided, ...others]
      const found = await presentlyNamed(name, ids, { ...where, since, now })
      if (found !== undefined || decided === undefined) return found
      const fullName = await nameOf(decided, where, since)
      return fullName === undefined ? undefined : { id: decided, fullName }
    },
    forget: (grantUid, id) => void remembered.delete(keyOf(grantUid, id)),
  }
}
