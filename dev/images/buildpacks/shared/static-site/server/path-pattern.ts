// Patterns of static.json: `*` is any text without a slash, `**` any text. Matching takes a time that is bounded by the product
// of both lengths, because strangers choose the path.

const longest = 200
const maxWildcards = 10

/** What is wrong with a pattern, or undefined. */
export function patternProblem(pattern: string): string | undefined {
  if (!pattern.startsWith('/')) return 'must begin with a slash'
  if (pattern.length > longest) return `is longer than ${longest} characters`
  if ((pattern.match(/\*+/g) ?? []).length > maxWildcards) return `has more than ${maxWildcards} wildcards`
  return undefined
}

export function matchesPattern(pattern: string, path: string): boolean {
  // The places in `path` up to which the pattern so far may reach.
  let places: ReadonlySet<number> = new Set([0])
  for (const part of pattern.split(/(\*+)/)) {
    if (part === '') continue
    places = part.startsWith('*') ? afterWildcard(path, places, part.length > 1) : afterText(path, places, part)
    if (places.size === 0) return false
  }
  return places.has(path.length)
}

function afterText(path: string, places: ReadonlySet<number>, text: string): ReadonlySet<number> {
  return new Set([...places].filter(place => path.startsWith(text, place)).map(place => place + text.length))
}

function afterWildcard(path: string, places: ReadonlySet<number>, crossesSlashes: boolean): ReadonlySet<number> {
  const reached = new Set<number>()
  let inside = false
  for (let place = 0; place <= path.length; place++) {
    if (!crossesSlashes && path[place - 1] === '/') inside = false
    inside ||= places.has(place)
    if (inside) reached.add(place)
  }
  return reached
}
