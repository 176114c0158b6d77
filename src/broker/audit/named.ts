// Finds whom a name means in the audit log: ids count, and a name is how people ask. A former name finds whoever had it; a name
// that nobody has gets the near ones. Pure.
import { compareText } from '../../lib/text/compare-text.ts'
import { editDistance } from '../../lib/text/edit-distance.ts'
import type { NamedId } from '../../store/audit/audit-names.ts'

export type Found = {
  /** The ids that have or had the name, each once. */
  readonly matches: readonly NamedId[]
  /** Names that are nearly the same; only without a match. */
  readonly near: readonly string[]
}

const maxNear = 5
const maxLength = 100

/** Logins and names of repositories do not distinguish upper and lower case. */
export function findNamed(known: readonly NamedId[], name: string): Found {
  const wanted = name.toLowerCase()
  const matches = [...new Map(known.filter(one => one.name.toLowerCase() === wanted).map(one => [one.id, one])).values()]
  if (matches.length > 0 || wanted.length > maxLength) return { matches, near: [] }
  const limit = Math.max(2, Math.floor(wanted.length / 4))
  const near = [...new Set(known.map(one => one.name))]
    .filter(one => one.length <= maxLength)
    .map(one => ({ name: one, distance: distanceTo(wanted, one.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance || compareText(a.name, b.name))
  return { matches, near: near.slice(0, maxNear).map(one => one.name) }
}

/** The part of a repository's name that people remember may be right alone: `acme/shop` is near `globex/shop`. */
function distanceTo(wanted: string, name: string): number {
  const [, ownOf] = wanted.split('/')
  const [, own] = name.split('/')
  if (own !== undefined && own === (ownOf ?? wanted)) return 1
  return editDistance(wanted, name)
}
