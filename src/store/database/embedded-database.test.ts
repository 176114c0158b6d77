// The path of statements into the database's thread: buffers are transferred and returned, and none is written to before it is
// returned.
import { createHash } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { openEmbedded } from './database.ts'

test('statements of any size arrive as they were sent, one after the other and many at once', async () => {
  const database = await openEmbedded('memory://', silentLog)
  onTestFinished(() => database.close())
  const sizes = [1, 5_000_000, 100, 70_000, 900_000, 0, 65_536, 1_048_576, 3]
  const digestThere = async (bytes: Buffer): Promise<string | undefined> => {
    const { rows } = await database.pool.query<{ digest: string }>(`SELECT encode(sha256($1::bytea), 'hex') AS digest`, [bytes])
    return rows[0]?.digest
  }
  const digestHere = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
  const bodies = sizes.map((size, index) => Buffer.alloc(size, `${index}-`))
  for (const bytes of bodies) expect(await digestThere(bytes)).toBe(digestHere(bytes))
  expect(await Promise.all(bodies.map(digestThere))).toEqual(bodies.map(digestHere))
})
