// From the name in a URL to a repository of the grant and the name that it has now: ids are what the grant reaches, and names
// pass to others. GitHub is asked about ids of the grant only.
import type { GitHubEndpoints, RepositoryClient } from '../../../github/index.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import { type Clock, elapsed } from '../../../lib/clock.ts'
import type { DeliveredToken } from '../../token-desk/token-desk.ts'

/** A repository, and its name at GitHub now. */
export type NamedRepository = { readonly id: number; readonly fullName: string }

/** The grant by which it is asked, and its token. */
type Where = { readonly grantUid: string; readonly token: DeliveredToken; readonly endpoints: GitHubEndpoints }

export type RepositoryNames = {
  /**
   * The repository of the grant that `name` (`owner/name`) means: the one that has this name now, else the one that had it when
   * the grant was checked last. Undefined when none does, or GitHub does not have it any more.
   */
  readonly find: (name: string, where: Where) => Promise<NamedRepository | undefined>
  /** GitHub said something else about the name: it is asked again. */
  readonly forget: (grantUid: string, id: number) => void
}

type Remembered = { readonly fullName: string | undefined; readonly until: number }

const rememberMilliseconds = 60_000
const maxRemembered = 5000
const isSame = (a: string | undefined, b: string): boolean => a?.toLowerCase() === b.toLowerCase()

// Memory (names of repositories behind the git proxy): grant and repository id → name at GitHub
//   life: a minute
//   bound: 5,000 names, the one learned longest ago forgotten first
//   freshness: a minute; forgotten when GitHub redirects. A token reaches repositories by id, whatever the name means
//   replicas: each asks
/** `open` makes the client of GitHub for a token. */
export function createRepositoryNames(
  open: (endpoints: GitHubEndpoints, token: DeliveredToken) => Pick<RepositoryClient, 'repository'>,
  clock: Clock,
): RepositoryNames {
  const remembered = new BoundedMap<Remembered>(maxRemembered)
  const keyOf = (grantUid: string, id: number): string => `${grantUid} ${id}`
  const nameOf = async (id: number, { grantUid, token, endpoints }: Where): Promise<string | undefined> => {
    const key = keyOf(grantUid, id)
    const known = remembered.get(key)
    if (known !== undefined && elapsed(clock) < known.until) return known.fullName
    const fullName = (await open(endpoints, token).repository(id))?.fullName
    remembered.set(key, { fullName, until: elapsed(clock) + rememberMilliseconds })
    return fullName
  }
  /** One after the other: a grant has at most fifty, and each is asked at most once a minute. */
  const presentlyNamed = async (name: string, ids: readonly number[], where: Where): Promise<NamedRepository | undefined> => {
    for (const id of ids) {
      const fullName = await nameOf(id, where)
      if (fullName !== undefined && isSame(fullName, name)) return { id, fullName }
    }
    return undefined
  }
  return {
    async find(name, where) {
      const { repositories } = where.token
      const decided = repositories.find(({ fullName }) => isSame(fullName, name))?.id
      const others = repositories.map(({ id }) => id).filter(id => id !== decided)
      const ids = decided === undefined ? others : [decided, ...others]
      const found = await presentlyNamed(name, ids, where)
      if (found !== undefined || decided === undefined) return found
      const fullName = await nameOf(decided, where)
      return fullName === undefined ? undefined : { id: decided, fullName }
    },
    forget: (grantUid, id) => void remembered.delete(keyOf(grantUid, id)),
  }
}
