// Which ids the entries of the audit log give to names: people by their logins and repositories by theirs, also former ones. It
// reads a bounded number of the newest entries, of those of a namespace where one is named, and changes nothing.
import type pg from 'pg'

/** An id that had this name once. People are subjects such as `github|github.com|42`; repositories are numbers as text. */
export type NamedId = { readonly id: string; readonly name: string }

/**
 * Entries that are looked at. All of them would need a table of names that each append keeps: 8 µs of CPU an entry beside the 30
 * of its insert, and a cut would have to find which names are gone with it.
 */
const newest = 500_000
const most = 20_000

/** By the index of the namespace and the sequence: as many entries are read however many others have. */
const recent = (condition: string): string =>
  `SELECT action, actor, details FROM audit.entries ${condition} ORDER BY sequence DESC LIMIT $1`

const people = (
  condition: string,
): string => `SELECT DISTINCT coalesce(details->>'person', actor) AS id, details->>'login' AS name FROM (${recent(condition)}) AS recent
  WHERE jsonb_typeof(details->'login') = 'string' LIMIT ${most}`

// Elsewhere the field is a word, such as `All`.
const named = `CASE WHEN jsonb_typeof(details->'repositories') = 'array' THEN details->'repositories' ELSE '[]' END`
const repositories = (condition: string): string => `SELECT DISTINCT one->>'id' AS id, one->>'fullName' AS name
  FROM (${recent(condition)}) AS recent CROSS JOIN jsonb_array_elements(${named}) AS one
  WHERE jsonb_typeof(one) = 'object' AND one ? 'id' AND one ? 'fullName' LIMIT ${most}`

/** Names in the newest entries, or in the newest of one namespace; each pair of id and name once, at most 20,000. */
export async function readNames(
  pool: pg.Pool,
  kind: 'person' | 'repository',
  namespace: string | undefined,
  entries = newest,
): Promise<readonly NamedId[]> {
  const query = kind === 'person' ? people : repositories
  const { rows } = await (namespace === undefined
    ? pool.query<NamedId>(query(''), [entries])
    : pool.query<NamedId>(query('WHERE namespace = $2'), [entries, namespace]))
  return rows
}
