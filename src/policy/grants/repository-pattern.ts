// Patterns of repositories in policies: `*` stands for any number of characters within the owner or within the name, and
// nothing else is special. Pure; the time is bounded by the product of both lengths, and both are bounded by their schemas.

/** Whether a full name, `owner/name`, is one that the pattern means. */
export type RepositoryMatcher = (fullName: string) => boolean

/** Case is that of ASCII, as GitHub's names are. A pattern or a name without exactly one slash matches nothing. */
export function repositoryMatcher(pattern: string): RepositoryMatcher {
  const parts = partsOf(pattern)
  if (parts === undefined) return () => false
  const [owner, name] = parts.map(starMatcher)
  return fullName => {
    const given = partsOf(fullName)
    return given !== undefined && owner?.(given[0]) === true && name?.(given[1]) === true
  }
}

function partsOf(text: string): readonly [string, string] | undefined {
  const [owner, name, ...more] = text.toLowerCase().split('/')
  return owner === undefined || name === undefined || more.length > 0 ? undefined : [owner, name]
}

/** Whether a text is one that the pattern means: `*` stands for any number of characters, and case matters. */
export function starMatcher(pattern: string): (text: string) => boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return text => text === pattern
  const last = rest.pop() ?? ''
  return text => {
    if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false
    const end = text.length - last.length
    let at = first.length
    // What is between two stars is best found as early as possible.
    for (const piece of rest) {
      const found = text.indexOf(piece, at)
      if (found === -1 || found + piece.length > end) return false
      at = found + piece.length
    }
    return true
  }
}
