// A log of any length that answers questions and verifies: two hundred entries for each grant, from its decision to its end, of
// a thousand repositories and a year. It is inserted as its owner, in the order of the chain; appending it would take hours.
import { createHash } from 'node:crypto'
import type { AuditRecord } from '../../../src/api/audit/audit-event.ts'
import { type ChainHead, emptyHead } from '../../../src/lib/hash-chain/hash-chain.ts'
import { nextEntries } from '../../../src/store/audit/audit-chain.ts'
import type { Database } from '../../../src/store/database/database.ts'

/** The repository that is asked about has every thousandth grant. */
export const askedRepository = 4001
const rowsInStatement = 5000
const entriesOfGrant = 200
const hour = 3_600_000
const yearMilliseconds = 365 * 24 * hour

const md5 = (text: number): string => createHash('md5').update(String(text)).digest('hex')

function recordNumber(number: number): AuditRecord {
  const [block, position] = [Math.floor((number - 1) / entriesOfGrant), (number - 1) % entriesOfGrant]
  const [isDecision, isEnd, isMint] = [position === 0, position === entriesOfGrant - 1, position % 10 === 1]
  const namespace = `tenant-${block % 50}`
  const id = askedRepository + (block % 1000)
  const about = {
    person: `github|github.com|${500_000 + (block % 997)}`,
    login: `user-${block % 997}`,
    grantUid: `grant-${block}`,
    generation: 1,
    rule: 'read-contents',
    inputs: md5(block),
    repositories: [{ id, fullName: `${namespace}/shop-${block % 1000}` }],
    repositoryIds: [id],
    permissions: { contents: 'read', metadata: 'read' },
  }
  const ofToken = {
    ...{ token: md5(number), host: 'github.com', appId: 5001, installationId: 4711, address: '10.0.0.7' },
    subject: { kind: 'ServiceAccount', name: 'ci', uid: `sa-${block}` },
    pod: { name: `ci-${position}`, uid: md5(position) },
    ...(isMint ? { hashedToken: createHash('sha256').update(String(number)).digest('base64') } : {}),
  }
  const isOfGrant = isDecision || isEnd
  const details = { ...about, ...(isOfGrant ? { subjects: [{ kind: 'ServiceAccount', name: 'ci' }] } : ofToken) }
  const action = isDecision ? 'grant.decided' : isEnd ? 'grant.ended' : isMint ? 'token.minted' : 'token.delivered'
  return {
    ...{ action, namespace, details, outcome: 'allowed', reason: 'the grant allows it' },
    actor: isOfGrant ? 'sekisho:grant' : `system:serviceaccount:${namespace}:ci`,
    object: `RepositoryGrant/${namespace}/read-${block}`,
  }
}

const inserted = `INSERT INTO audit.entries (sequence, at, action, actor, namespace, object, outcome, reason, details, previous_hash, hash)
  SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
    $9::jsonb[], $10::text[], $11::text[])`

export type Fill = {
  /** How many the log has in the end. */
  readonly entries: number
  /** How many it will have: they are spread over a year. */
  readonly planned: number
  readonly now: Date
}

type Queries = (text: string, values?: readonly unknown[]) => Promise<{ readonly rows: readonly object[] }>

/** Appends what the log lacks. The indexes are made at the end, as it is quicker. */
export async function fillLog(pool: Database['pool'], { entries, planned, now }: Fill): Promise<void> {
  const client = await pool.connect()
  // The store's limits of time are for requests.
  const run: Queries = (text, values = []) => client.query({ text, values: [...values], ...{ query_timeout: hour } })
  const timeOf = (number: number): Date => new Date(now.getTime() - ((planned - number) / planned) * yearMilliseconds)
  try {
    await run('SET statement_timeout = 0')
    const indexes = (
      await run(
        `SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE schemaname = 'audit' AND tablename = 'entries' AND indexname LIKE 'entries_%_idx'`,
      )
    ).rows as readonly { readonly name: string; readonly definition: string }[]
    for (const { name } of indexes) await run(`DROP INDEX audit.${name}`)
    await insertEntries(run, entries, timeOf)
    for (const { definition } of indexes) await run(definition)
    await run('VACUUM ANALYZE audit.entries')
  } finally {
    client.release(true)
  }
}

async function insertEntries(run: Queries, entries: number, timeOf: (number: number) => Date): Promise<void> {
  const { rows } = await run('SELECT sequence::int AS sequence, hash FROM audit.entries ORDER BY sequence DESC LIMIT 1')
  let head = (rows[0] as ChainHead | undefined) ?? emptyHead
  let before: Promise<unknown> = Promise.resolve()
  while (head.sequence < entries) {
    const first = head.sequence + 1
    const numbers = Array.from({ length: Math.min(rowsInStatement, entries - head.sequence) }, (_, index) => first + index)
    const made = nextEntries(
      head,
      numbers.map(number => ({ record: recordNumber(number), at: timeOf(number) })),
    )
    const columns = [
      ...[made.map(one => one.sequence), made.map(one => one.at), made.map(one => one.action), made.map(one => one.actor)],
      ...[made.map(one => one.namespace), made.map(one => one.object), made.map(one => one.outcome)],
      ...[made.map(one => one.reason), made.map(one => JSON.stringify(one.details))],
      ...[made.map(one => one.previousHash), made.map(one => one.hash)],
    ]
    head = made.at(-1) ?? head
    // The next ones are made while the server inserts these.
    await before
    before = run(inserted, columns)
  }
  await before
}
