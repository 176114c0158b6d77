// One keyring for both processes: noticed by the fingerprints that they record, said once, and not confused with a former key
// of both.
import { expect, test } from 'vitest'
import { silentLog } from '../../lib/testing/silent-log.ts'
import type { AuditEntry } from '../audit/audit-chain.ts'
import { createSharedKeyCheck, sharedKeyProblem } from './shared-key.ts'

test('the same first key is a problem with its cure; a key that both only open, and two keyrings, are none', () => {
  expect(sharedKeyProblem(['one'], ['one'])).toMatch(/seal with the same key \(one\).*SEKISHO_SEALING_KEYS.*docs\/guide\/keys.md/)
  expect(sharedKeyProblem(['one', 'former'], ['one'])).toBeDefined()
  expect(sharedKeyProblem(['one', 'former'], ['two', 'former'])).toBeUndefined()
  expect(sharedKeyProblem(['new', 'former'], ['former'])).toBeUndefined()
  expect(sharedKeyProblem([], [])).toBeUndefined()
})

/** Plays a round for each keyring that the controllers have recorded by then; undefined: none yet. */
async function rounds(recorded: readonly (readonly string[] | undefined)[], leads = true): Promise<readonly string[]> {
  const errors: string[] = []
  let round = 0
  let allPlayed = (): void => {}
  const played = new Promise<void>(resolve => {
    allPlayed = resolve
  })
  const check = createSharedKeyCheck({
    keys: ['one'],
    audit: {
      list: async () => {
        const keys = recorded[round]
        if (keys === undefined) return []
        const details = { keys, rows: keys.map(() => 1), unknownKey: 0, resealed: 0 }
        return [{ details, at: '2026-01-01T00:00:00.000Z' } as unknown as AuditEntry]
      },
    },
    isLeader: () => leads,
    clock: {
      now: () => new Date(0),
      sleep: () => {
        round += 1
        if (round < recorded.length) return Promise.resolve()
        allPlayed()
        return new Promise(() => {})
      },
    },
    log: { ...silentLog, error: (_fields, message) => void errors.push(message) },
  })
  check.start()
  await played
  return errors
}

test('the broker that leads says it once, and again when it has come back', async () => {
  expect(await rounds([undefined, ['one'], ['one'], ['two'], ['one']])).toHaveLength(2)
  expect(await rounds([undefined, ['two']])).toEqual([])
  expect(await rounds([['one']], false)).toEqual([])
})
