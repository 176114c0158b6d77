import { expect, test } from 'vitest'
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { AppError } from '../../lib/errors.ts'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { silentLog as log } from '../../lib/testing/silent-log.ts'
import { createRefusedTokens } from './refused-tokens.ts'

const subject = 'github|github.com|7'

function refusing(error: unknown, append: (record: AuditRecord) => Promise<unknown>) {
  return createRefusedTokens(
    { claims: () => Promise.reject(error), loginOf: async () => 'noah' },
    { audit: { append }, clock: createFakeClock(), log },
  )
}

test('a person without a role is refused after that is recorded; equal refusals are counted', async () => {
  const records: AuditRecord[] = []
  const refused = refusing(new AppError('forbidden', 'you have no role', { reason: 'NoRole' }), async one => records.push(one))
  for (let time = 0; time < 3; time += 1) await expect(refused.tokenClaims(subject)).rejects.toThrow('you have no role')
  await refused.refusals.stop()
  expect(records).toMatchObject([
    { action: 'kubectl-token.refused', actor: subject, outcome: 'denied', details: { login: 'noah', check: 'NoRole' } },
    { details: { login: 'noah', check: 'NoRole', count: 2 } },
  ])
})

test('an outage of GitHub is no refusal, and a refusal that cannot be recorded is not told', async () => {
  const records: AuditRecord[] = []
  const away = refusing(new AppError('unavailable', 'GitHub is away'), async one => records.push(one))
  await expect(away.tokenClaims(subject)).rejects.toThrow('GitHub is away')
  expect(records).toEqual([])
  const unrecorded = refusing(new AppError('forbidden', 'no'), () =>
    Promise.reject(new AppError('unavailable', 'the log is away')),
  )
  await expect(unrecorded.tokenClaims(subject)).rejects.toThrow('the log is away')
})
