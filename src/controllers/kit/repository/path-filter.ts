// Whether files of a repository are among those that a list of patterns means, and whether a branch is. Pure. Patterns are a
// tenant's and paths a pusher's: the time is bounded by the product of their lengths, which a regular expression could not
// promise.

/** Which piece of a pattern stands for any number of pieces, and when another one matches. */
type Pieces = { readonly wildcard: string; readonly same: (pattern: string, piece: string) => boolean }

/** Steps back to the last wildcard only, so that the time is bounded by the product of both lengths. */
function matchesPieces(pattern: ArrayLike<string>, pieces: ArrayLike<string>, { wildcard, same }: Pieces): boolean {
  let [at, position, star, resume] = [0, 0, -1, 0]
  while (position < pieces.length) {
    if (pattern[at] === wildcard) {
      star = at
      at += 1
      resume = position
    } else if (at < pattern.length && same(pattern[at] ?? '', pieces[position] ?? '')) {
      at += 1
      position += 1
    } else if (star >= 0) {
      at = star + 1
      resume += 1
      position = resume
    } else return false
  }
  while (pattern[at] === wildcard) at += 1
  return at === pattern.length
}

/** The characters of a name; `*` stands for any number of them. */
const characters: Pieces = { wildcard: '*', same: (pattern, character) => pattern === character }

/** The folders and the name of a file; `**` stands for any number of folders. */
const folders: Pieces = { wildcard: '**', same: (pattern, name) => matchesPieces(pattern, name, characters) }

/** Whether a pattern with `*` (no slash) and `**` (any folders) matches the whole name, such as that of a branch. */
export function matchesName(pattern: string, name: string): boolean {
  return matchesPieces(pattern.split('/'), name.split('/'), folders)
}

/** A pattern also means everything below what it matches. */
function matches(pattern: string, path: string): boolean {
  const parts = pattern.replace(/\/+$/, '').split('/')
  return matchesPieces([...parts, '**'], path.split('/'), folders)
}

/** Whether a file is meant: by one pattern at least, when there are any without `!`, and by none with `!`. */
export function isMeant(paths: readonly string[], path: string): boolean {
  const excluded = paths.filter(item => item.startsWith('!')).map(item => item.slice(1))
  const included = paths.filter(item => !item.startsWith('!'))
  if (excluded.some(pattern => matches(pattern, path))) return false
  return included.length === 0 || included.some(pattern => matches(pattern, path))
}
