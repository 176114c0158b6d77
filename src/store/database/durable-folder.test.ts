// What a power cut costs on the embedded database: nothing that was acknowledged. The control shows that the disk of this test
// does lose data, when PostgreSQL does not flush.
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { timeLimit } from '../../lib/waiting/limits.ts'
import { durableStartParameters, openDurable } from './durable-folder.ts'
import { afterPowerCut, RecordingFolder } from './testing/power-cut.ts'

let folder: string
const at = (name: string): string => join(folder, name)
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sekisho-power-'))
  const database = await openDurable(at('template'))
  await database.exec('CREATE TABLE kept (n integer PRIMARY KEY, filler text)')
  await database.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Reproducible: the same cut again shows the same folder. */
function pseudoRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const groups = 120
/** Values of 100 KB that do not compress, so that the log runs through several segments of 16 MB. */
const filler = `(SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 3200))`

/** After how many operations each group was acknowledged. Three rows are one group: they are all there or none. */
async function record(name: string, startParams: readonly string[]) {
  cpSync(at('template'), at(name), { recursive: true })
  const disk = new RecordingFolder(at(name))
  const database = await PGlite.create({ fs: disk, startParams: [...startParams] })
  const acknowledged: number[] = []
  for (let group = 0; group < groups; group += 1) {
    const values = [0, 1, 2].map(row => `(${group * 3 + row}, ${row === 0 ? filler : "'short'"})`)
    await database.exec(`INSERT INTO kept VALUES ${values.join(', ')}`)
    acknowledged.push(disk.operations.length)
    if (group % 40 === 25) await database.exec('CHECKPOINT')
    if (group % 40 === 30) await database.exec(`CREATE TABLE other_${group} AS SELECT * FROM kept; TRUNCATE other_${group}`)
  }
  await database.close()
  return { operations: disk.operations, acknowledged }
}

async function rowsAfter(name: string): Promise<readonly number[]> {
  // Recovery does the same with and without flushing; without, it is quick.
  const database = await PGlite.create(at(name))
  try {
    const { rows } = await database.query<{ n: number }>('SELECT n FROM kept WHERE length(filler) IN (5, 102400) ORDER BY n')
    const { rows: byIndex } = await database.query<{ n: number }>('SELECT count(*)::int AS n FROM kept WHERE n >= 0')
    expect(byIndex[0]?.n).toBe(rows.length)
    return rows.map(({ n }) => n)
  } finally {
    await database.close()
    rmSync(at(name), { recursive: true, force: true })
  }
}

test('after a power cut at any moment everything acknowledged is there, and no part of a group', {
  timeout: timeLimit(300_000),
}, async () => {
  const { operations, acknowledged } = await record('flushed', durableStartParameters)
  const random = pseudoRandom(16)
  const first = acknowledged[0] ?? 0
  for (let cut = 0; cut < 8; cut += 1) {
    // In the middle of anything, or exactly at an acknowledgement, which is the most that a caller can have been told.
    const exact = acknowledged[Math.floor(random() * acknowledged.length)] ?? 0
    const count = cut % 2 === 0 ? exact : first + Math.floor(random() * (operations.length - first))
    const share = [0, 0.5, 0.9][cut % 3] ?? 0
    afterPowerCut(operations, { count, before: at('template'), into: at(`cut-${cut}`), survives: () => random() < share })
    const promised = acknowledged.filter(done => done <= count).length * 3
    const rows = await rowsAfter(`cut-${cut}`)
    expect(rows.length % 3, `cut ${cut}`).toBe(0)
    expect(rows, `cut ${cut}`).toEqual(Array.from({ length: rows.length }, (_, n) => n))
    expect(rows.length, `cut ${cut} after ${count} operations`).toBeGreaterThanOrEqual(promised)
    expect(rows.length, `cut ${cut}`).toBeLessThanOrEqual(promised + 3)
  }
})

test('control: without flushing, the same disk loses what was acknowledged', async () => {
  const { operations, acknowledged } = await record('not-flushed', PGlite.defaultStartParams)
  const count = acknowledged.at(-1) ?? 0
  afterPowerCut(operations, { count, before: at('template'), into: at('lost'), survives: () => false })
  expect(await rowsAfter('lost')).toEqual([])
})

test('a database whose creation was interrupted is created anew', async () => {
  cpSync(at('template'), at('interrupted.creating'), { recursive: true })
  rmSync(at('interrupted.creating/base'), { recursive: true })
  const database = await openDurable(at('interrupted'))
  expect((await database.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  await database.close()
})
