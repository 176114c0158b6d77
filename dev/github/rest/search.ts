// Owns: the search for repositories, which has a rate limit of its own. https://docs.github.com/en/rest/search/search
import { canSee } from '../access.ts'
import type { Repository } from '../state/repositories.ts'
import { accountOf, fullName } from '../state/world.ts'
import { repositoryView } from '../views/repository.ts'
import { invalidField } from './protocol/answer.ts'
import { paged } from './protocol/page.ts'
import { publicRoute, type RestCall, type RestRoute } from './route.ts'

const longestQuery = 256

const sameName = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase()

/** A qualifier (`org:`, `user:`, `repo:`), or a word of the name or the description. Other qualifiers find nothing. */
const fits = ({ context: { world } }: RestCall, repository: Repository, term: string): boolean => {
  const [, qualifier, value = ''] = /^(\w+):(.*)$/.exec(term) ?? []
  if (qualifier === 'org' || qualifier === 'user') return sameName(accountOf(world, repository.ownerId).login, value)
  if (qualifier === 'repo') return sameName(fullName(world, repository), value)
  return `${repository.name} ${repository.description ?? ''}`.toLowerCase().includes(term.toLowerCase())
}

const repositories = (call: RestCall) => {
  const { context, actor, query } = call
  const text = (query.get('q') ?? '').trim()
  if (text === '') throw invalidField('Search', 'q', 'missing')
  if (text.length > longestQuery) throw invalidField('Search', 'q', 'invalid')
  const terms = text.split(/\s+/)
  const found = context.world.repositories.filter(
    one => canSee(context.world, actor, one) && terms.every(term => fits(call, one, term)),
  )
  return paged(
    call.paging,
    found,
    one => ({ ...repositoryView(context, one), score: 1 }),
    (items, total) => ({ total_count: total, incomplete_results: false, items }),
  )
}

export const searchRoutes: readonly RestRoute[] = [
  publicRoute({ method: 'GET', path: '/search/repositories', handle: repositories }),
]
