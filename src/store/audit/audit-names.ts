// Which ids the entries of the audit log give to names: people by their logins and repositories by theirs, also former ones. It
// reads a bounded number of the newest entries, and changes nothing.
import type pg from 'pg'

/** An id that had this name once. People are subjects such as `github|github.com|42`; repositories are numbers as text. */
export type NamedId = { readonly id: string; readonly name: string }

/** Entries that are looked at. */
const newest = 500_000
const most = 20_000

const recent = `SELECT action, actor, details FROM audit.entries
  WHERE sequence > (SELECT coalesce(max(sequence), 0) FROM audit.entries) - ${newest} AND ($1::text IS NULL OR namespace = $1)`

const people = `SELECT DISTINCT coalesce(details->>'person', actor) AS id, details->>'login' AS name FROM (${recent}) AS recent
  WHERE jsonb_typeof(details->'login') = 'string' LIMIT ${most}`

// Elsewhere the field is a word, such as `All`.
const named = `CASE WHEN jsonb_typeof(details->'repositories') = 'array' THEN details->'repositories' ELSE '[]' END`
const repositories = `SELECT DISTINCT one->>'id' AS id, one->>'fullName' AS name
  FROM (${recent}) AS recent CROSS JOIN jsonb_array_elements(${named}) AS one
  WHERE jsonb_typeof(one) = 'object' AND one ? 'id' AND one ? 'fullName' LIMIT ${most}`

/** Names in the newest entries, of one namespace when it is given; each pair of id and name once, at most 20,000. */
export async function readNames(
  pool: pg.Pool,
  kind: 'person' | 'repository',
  namespace: string | undefined,
): Promise<readonly NamedId[]> {
  const { rows } = await pool.query<NamedId>(kind === 'person' ? people : repositories, [namespace ?? null])
  return rows
}
