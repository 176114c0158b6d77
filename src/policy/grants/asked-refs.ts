// The refs that a grant asks to push to, and the patterns of rules about them. A pattern stands for a set of names: `*` for any
// number of characters, also slashes, and nothing else is special; case matters, as on GitHub. Pure; the time is bounded by the
// lengths, which are bounded by their schemas.
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { type PermissionLevel, permissionRank } from '../permission-level.ts'
import { starMatcher } from './repository-pattern.ts'

/** The one permission by which a push changes refs. */
const pushing = 'contents'
const pushRank = permissionRank('write')

/** What the git proxy lets through where a grant names no refs. */
const branchesAndTags = ['refs/heads/*', 'refs/tags/*']
/** Whoever holds a token pushes past the proxy. */
const everything = ['refs/*']

/** Patterns; of a grant that writes no contents they mean nothing. */
export function refsAsked({ delivery, git }: Pick<RepositoryGrant['spec'], 'delivery' | 'git'>): readonly string[] {
  return delivery === 'GitProxy' ? (git?.refs ?? branchesAndTags) : everything
}

/** Whether it is by this permission that refs are changed. */
export function isPush(permission: string, level: PermissionLevel): boolean {
  return permission === pushing && permissionRank(level) >= pushRank
}

/** The refs of a rule. */
export type RefSet = {
  /** Whether each name that the pattern means is one of one pattern of the rule. */
  readonly contains: (pattern: string) => boolean
  /** Whether the pattern and the rule have a name in common. */
  readonly meets: (pattern: string) => boolean
}

export function refSet(patterns: readonly string[]): RefSet {
  // To another pattern a star is a character that only a star stands for: what it means is contained exactly then.
  const matchers = patterns.map(starMatcher)
  return {
    contains: pattern => matchers.some(matches => matches(pattern)),
    meets: pattern => patterns.some(one => haveCommon(one, pattern)),
  }
}

/** Whether a name is meant by both. What is between stars finds its place in a name that is long enough, so the ends decide. */
function haveCommon(a: string, b: string): boolean {
  if (!a.includes('*')) return starMatcher(b)(a)
  if (!b.includes('*')) return starMatcher(a)(b)
  const [startA, startB] = [a.slice(0, a.indexOf('*')), b.slice(0, b.indexOf('*'))]
  const [endA, endB] = [a.slice(a.lastIndexOf('*') + 1), b.slice(b.lastIndexOf('*') + 1)]
  return (startA.startsWith(startB) || startB.startsWith(startA)) && (endA.endsWith(endB) || endB.endsWith(endA))
}
