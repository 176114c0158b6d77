// The loop that seals again: it works only on the replica that leads, records what changed, and nothing twice.
import { expect, test } from 'vitest'
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import type { AuditEntry } from '../audit/audit-chain.ts'
import { createResealLoop, recordedTotals } from './reseal-loop.ts'

function process(first: { readonly keys: readonly string[]; readonly rows: readonly number[]; readonly unknownKey?: number }) {
  const entries: AuditEntry[] = []
  const state = { ...first, leads: true, runs: 0 }
  const rounds: (() => void)[] = []
  const audit = {
    append: async (record: AuditRecord) => {
      const entry = { ...record, at: '2026-01-01T00:00:00.000Z', sequence: entries.length + 1, previousHash: '', hash: '' }
      entries.unshift(entry)
      return entry
    },
    list: async () => entries.slice(0, 1),
  }
  const loop = createResealLoop({
    process: 'broker',
    resealing: {
      get keys() {
        return state.keys
      },
      count: async () => ({ keys: state.keys, columns: [{ name: 'x', rows: state.rows, unknownKey: state.unknownKey ?? 0 }] }),
      async run() {
        state.runs += 1
        const resealed = state.rows.slice(1).reduce((sum, count) => sum + count, 0)
        state.rows = [(state.rows[0] ?? 0) + resealed, ...state.rows.slice(1).map(() => 0)]
        return { resealed, unreadable: state.unknownKey ?? 0 }
      },
    },
    audit,
    isLeader: () => state.leads,
    clock: {
      now: () => new Date(0),
      // A round has ended when the loop waits for the next one.
      sleep: () => new Promise(resolve => rounds.push(resolve)),
    },
    log: silentLog,
  })
  const round = async (): Promise<void> => {
    const before = rounds.length
    if (before === 0) loop.start()
    else rounds.at(-1)?.()
    while (rounds.length === before) await new Promise(resolve => setImmediate(resolve))
  }
  return { state, entries, audit, round, stop: loop.stop }
}

test('a new first key: everything is sealed again and recorded once', async () => {
  const one = process({ keys: ['new', 'old'], rows: [0, 12] })
  await one.round()
  await one.round()
  expect(one.entries).toMatchObject([
    { actor: 'sekisho:broker', outcome: 'allowed', details: { keys: ['new', 'old'], rows: [12, 0], resealed: 12 } },
  ])
  expect(await recordedTotals(one.audit, 'broker')).toMatchObject({ keys: ['new', 'old'], rows: [12, 0], unknownKey: 0 })
  await one.stop()
})

test('nothing happens on a replica that does not lead', async () => {
  const one = process({ keys: ['new', 'old'], rows: [0, 12] })
  one.state.leads = false
  await one.round()
  expect([one.state.runs, one.entries.length]).toEqual([0, 0])
  await one.stop()
})

test('a key that is not in the keyring is recorded as a failure, once', async () => {
  const one = process({ keys: ['new', 'old'], rows: [5, 0], unknownKey: 2 })
  await one.round()
  await one.round()
  expect(one.entries).toMatchObject([{ outcome: 'failed', details: { unknownKey: 2, resealed: 0 } }])
  await one.stop()
})
