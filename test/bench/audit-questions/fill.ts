// A log of any length by SQL alone: two hundred entries for each grant, from its decision to its end, of a thousand repositories
// and a year. It has no chain, so it answers questions and verifies for nobody.
import type { Database } from '../../../src/store/database/database.ts'

/** The repository that is asked about has every thousandth grant. */
export const askedRepository = 4001
const batch = 200_000
const hour = 3_600_000

const details = `jsonb_build_object(
    'person', 'github|github.com|' || 500000 + block % 997, 'login', 'user-' || block % 997,
    'grantUid', 'grant-' || block, 'generation', 1, 'rule', 'read-contents', 'inputs', md5(block::text),
    'repositories', jsonb_build_array(jsonb_build_object('id', ${askedRepository} + block % 1000, 'fullName', 'tenant-' || block % 50 || '/shop-' || block % 1000)),
    'repositoryIds', jsonb_build_array(${askedRepository} + block % 1000),
    'permissions', jsonb_build_object('contents', 'read', 'metadata', 'read'))
  || CASE WHEN position IN (0, 199) THEN jsonb_build_object('subjects', jsonb_build_array(jsonb_build_object('kind', 'ServiceAccount', 'name', 'ci')))
    ELSE jsonb_build_object('token', md5(number::text), 'host', 'github.com', 'appId', 5001, 'installationId', 4711,
      'subject', jsonb_build_object('kind', 'ServiceAccount', 'name', 'ci', 'uid', 'sa-' || block),
      'pod', jsonb_build_object('name', 'ci-' || position, 'uid', md5(position::text)), 'address', '10.0.0.7') END
  || CASE WHEN position % 10 = 1 THEN jsonb_build_object('hashedToken', encode(sha256(number::text::bytea), 'base64')) ELSE '{}' END`

const inserted = `INSERT INTO audit.entries (sequence, at, action, actor, namespace, object, outcome, reason, details, previous_hash, hash)
  SELECT number, $3::timestamptz - (($4 - number)::float8 / $4) * interval '365 days',
    CASE WHEN position = 0 THEN 'grant.decided' WHEN position = 199 THEN 'grant.ended' WHEN position % 10 = 1 THEN 'token.minted' ELSE 'token.delivered' END,
    CASE WHEN position IN (0, 199) THEN 'sekisho:grant' ELSE 'system:serviceaccount:tenant-' || block % 50 || ':ci' END,
    'tenant-' || block % 50, 'RepositoryGrant/tenant-' || block % 50 || '/read-' || block, 'allowed', 'the grant allows it', ${details},
    lpad((number - 1)::text, 64, '0'), lpad(number::text, 64, '0')
  FROM (SELECT number, (number - 1) / 200 AS block, (number - 1) % 200 AS position FROM generate_series($1::bigint, $2::bigint) AS number) AS numbered`

/** As its owner; the indexes are made at the end, as it is quicker. Resolves to the bytes of table and indexes. */
export async function fillLog(pool: Database['pool'], entries: number, now: Date): Promise<number> {
  const client = await pool.connect()
  // The store's limits of time are for requests.
  const run = <T extends object>(text: string, values: readonly unknown[] = []) =>
    client.query<T>({ text, values: [...values], ...{ query_timeout: hour } })
  try {
    await run('SET statement_timeout = 0')
    const { rows: indexes } = await run<{ name: string; definition: string }>(
      `SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE schemaname = 'audit' AND tablename = 'entries' AND indexname LIKE 'entries_%_idx'`,
    )
    for (const { name } of indexes) await run(`DROP INDEX audit.${name}`)
    for (let first = 1; first <= entries; first += batch)
      await run(inserted, [first, Math.min(first + batch - 1, entries), now.toISOString(), entries])
    for (const { definition } of indexes) await run(definition)
    await run('VACUUM ANALYZE audit.entries')
    const { rows: sizes } = await run<{ bytes: string }>("SELECT pg_total_relation_size('audit.entries') AS bytes")
    return Number(sizes[0]?.bytes)
  } finally {
    client.release(true)
  }
}
