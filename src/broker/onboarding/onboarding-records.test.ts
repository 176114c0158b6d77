import { expect, test } from 'vitest'
import type { JsonValue } from '../../lib/json/canonical-json.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import type { Onboarding, Onboardings } from '../../store/onboardings.ts'
import { createOnboardingRecords, type OnboardingIntent, provedRecord } from './onboarding-records.ts'

const intent: OnboardingIntent = {
  app: 'default',
  account: { host: 'github.com', id: 7, login: 'acme', type: 'Organization' },
  boundBy: { id: 1, login: 'olivia' },
  teams: [],
}

function row(id: string, stored: JsonValue): Onboarding {
  const at = new Date(0)
  const data = { intent: stored }
  return { id, state: 'proved', host: 'github.com', accountId: 7, userId: 1, data, createdAt: at, updatedAt: at }
}

function recordsOf(...rows: readonly Onboarding[]) {
  const store = { find: async () => rows[0], active: async () => rows } as unknown as Onboardings
  return createOnboardingRecords(store, silentLog)
}

test('the intent is a value of what was read', async () => {
  const found = await recordsOf(row('one', { ...intent })).find('one')
  expect(found).toMatchObject({ id: 'one', state: 'proved', intent })
  expect(found).not.toHaveProperty('data')
})

test('what is not an intent is refused, and delays no other onboarding', async () => {
  const { account: _account, ...incomplete } = intent
  for (const stored of [null, 'text', [], {}, { ...incomplete }, { ...intent, teams: 'x' }]) {
    await expect(recordsOf(row('bad', stored)).find('bad')).rejects.toMatchObject({ code: 'integrity_violation' })
    const active = await recordsOf(row('bad', stored), row('good', { ...intent })).active()
    expect(active.map(({ id }) => id)).toEqual(['good'])
  }
})

test('an onboarding without a proof is not proved', async () => {
  const [record] = await recordsOf(row('one', { ...intent })).active()
  expect(() => record && provedRecord(record)).toThrow('has no proof')
})
