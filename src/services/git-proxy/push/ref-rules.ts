// Which refs a push may change: branches and tags with names that git itself accepts. Everything else on GitHub (refs/pull,
// refs/notes, hidden refs) is not a workload's. A grant may say which of them. Pure.
// Source: https://git-scm.com/docs/git-check-ref-format ; GitHub accepts names of at most 255 bytes.
import { redactTokens } from '../../../lib/log.ts'
import { starMatcher } from '../../../policy/grants/repository-pattern.ts'

const allowed = ['refs/heads/', 'refs/tags/'] as const
const maxNameBytes = 255

/** Control characters, space, and what has a meaning in refspecs, revisions or shells of git. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const forbidden = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\.$/

type RefProblem = (ref: string) => string | undefined

const maxNamed = 5

/** As `refProblem`, and not one of those that the patterns of the grant mean; without patterns every ref is. */
export function refProblemUnder(patterns: readonly string[] | undefined): RefProblem {
  if (patterns === undefined) return refProblem
  const matchers = patterns.map(starMatcher)
  const named = `${patterns.slice(0, maxNamed).join(', ')}${patterns.length > maxNamed ? ' and others' : ''}`
  return ref => {
    const problem = refProblem(ref)
    if (problem !== undefined || matchers.some(means => means(ref))) return problem
    return `the grant does not let it be changed: spec.git.refs has ${named}`
  }
}

/** Why the ref may not be changed, for the person who pushes; undefined for a ref that may. */
export function refProblem(ref: string): string | undefined {
  const prefix = allowed.find(start => ref.startsWith(start))
  if (prefix === undefined) return 'only branches (refs/heads/) and tags (refs/tags/) can be pushed through the git proxy'
  const name = ref.slice(prefix.length)
  if (Buffer.byteLength(name) > maxNameBytes) return `the name is longer than ${maxNameBytes} bytes`
  const parts = name.split('/')
  // The log would have `[redacted]` in its place: nobody could say which ref was pushed.
  if (redactTokens(ref) !== ref) return 'the name looks like a token of GitHub'
  const isWrong = forbidden.test(name) || parts.some(part => part === '' || part.startsWith('.') || part.endsWith('.lock'))
  return isWrong || name.startsWith('-') ? 'the name is not one that git accepts (git check-ref-format)' : undefined
}
