// What operators and tenants learn of the desk: numbers that a request or a revocation changes, and Events of a grant.
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import type { AuditRecord } from '../../../api/audit/audit-event.ts'
import { createEventRecorder } from '../../../kube/object/events.ts'
import { AppError } from '../../../lib/errors.ts'
import { createFakeClock, settle } from '../../../lib/testing/fake-clock.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import { grantObject } from '../testing/desk-objects.ts'
import type { DeliveredToken, TokenDesk, TokenRequest } from '../token-desk.ts'
import { createTokenCount, measuredDesk } from './measured-desk.ts'
import { createDeskMetrics } from './metrics.ts'
import { announcing } from './revocation-events.ts'

const grant = grantObject()

function measured(desk: Partial<TokenDesk>) {
  const registry = new Registry()
  const clock = createFakeClock()
  const metrics = createDeskMetrics(registry)
  const value = async (name: string, labels: object = {}, part = '') => {
    const found = (await registry.getSingleMetric(name)?.get())?.values ?? []
    // Of a histogram, which series it is.
    const ofPart = found.filter(item => part === '' || (item as { metricName?: string }).metricName === `${name}${part}`)
    return ofPart.find(item => JSON.stringify(item.labels) === JSON.stringify(labels))?.value
  }
  return { desk: measuredDesk(desk as TokenDesk, { metrics, clock }), metrics, clock, value }
}

test('counts deliveries, and refusals by a closed list of reasons', async () => {
  const answers: (() => Promise<DeliveredToken>)[] = []
  const { desk, value } = measured({ request: () => answers.shift()?.() ?? Promise.reject(new Error('no answer')) })
  const request = {} as TokenRequest
  answers.push(async () => ({}) as DeliveredToken)
  for (const reason of ['NotASubject', 'GitHubUnreachable', 'a reason of nobody'])
    answers.push(() => Promise.reject(new AppError('forbidden', 'no', { reason })))
  await desk.request(request)
  for (let refused = 0; refused < 4; refused++) await expect(desk.request(request)).rejects.toThrow()
  expect(await value('sekisho_tokens_delivered_total')).toBe(1)
  expect(await value('sekisho_token_refusals_total', { reason: 'NotASubject' })).toBe(1)
  expect(await value('sekisho_token_refusals_total', { reason: 'GitHubUnreachable' })).toBe(1)
  expect(await value('sekisho_token_refusals_total', { reason: 'Other' })).toBe(2)
  expect(await value('sekisho_token_refusals_total', { reason: 'QuotaExceeded' })).toBe(0)
})

test('a revocation that GitHub did not confirm is counted as pending, and one of nothing is not counted', async () => {
  const results: (number | Error)[] = [3, 0, new AppError('unavailable', '1 of 3 could not be revoked')]
  const { desk, value } = measured({
    async revokeBy() {
      const result = results.shift() ?? 0
      if (result instanceof Error) throw result
      return result
    },
  })
  expect(await desk.revokeBy({ grantUid: 'g' }, 'ended')).toBe(3)
  expect(await desk.revokeBy({ grantUid: 'g' }, 'ended')).toBe(0)
  await expect(desk.revokeBy({ grantUid: 'g' }, 'ended')).rejects.toThrow('1 of 3')
  const counted = async (result: string) => value('sekisho_token_revocation_duration_seconds', { result }, '_count')
  expect(await counted('revoked')).toBe(1)
  expect(await counted('pending')).toBe(1)
})

test('the numbers of tokens are not known while the database does not answer', async () => {
  const { metrics, clock, value } = measured({})
  let fails = false
  const tokens = {
    async counts() {
      if (fails) throw new AppError('unavailable', 'the database does not answer')
      return { live: 4, revoking: 1, suspended: 0 }
    },
  }
  const count = createTokenCount({ tokens, metrics, clock, log: silentLog })
  count.start()
  await settle()
  expect(await value('sekisho_tokens', { state: 'live' })).toBe(4)
  expect(await value('sekisho_tokens', { state: 'revoking' })).toBe(1)
  fails = true
  await clock.advance(15_000)
  expect(await value('sekisho_tokens', { state: 'revoking' })).toBeNaN()
  await count.stop()
})

function revoked(change: Partial<AuditRecord> = {}): AuditRecord {
  const details = { grantUid: grant.metadata.uid ?? '' }
  const about = { namespace: 'acme', object: 'RepositoryGrant/acme/read-shop' }
  return {
    action: 'token.revoked',
    actor: 'sekisho:token-desk',
    ...about,
    outcome: 'allowed',
    reason: 'the grant was deleted',
    details,
    ...change,
  }
}

function announced(append: () => Promise<unknown> = async () => {}) {
  const written: { readonly reason: string; readonly count: number; readonly message: string; readonly kind: string }[] = []
  const write = (_type: unknown, event: unknown) => {
    const { reason, count, message, involvedObject } = event as { reason: string; count: number; message: string } & {
      readonly involvedObject: { readonly kind: string }
    }
    written.push({ reason, count, message, kind: involvedObject.kind })
    return Promise.resolve(event as never)
  }
  const client = { create: write, apply: write } as unknown as Parameters<typeof createEventRecorder>[0]['client']
  const events = createEventRecorder({ client, clock: createFakeClock(), log: silentLog, component: 'tests' })
  const grants = { get: ({ name }: { readonly name: string }) => (name === 'read-shop' ? grant : undefined) }
  return { audit: announcing({ append }, { grants, events }), events, written }
}

test('a grant gets an Event for tokens that were revoked, and for one that GitHub did not revoke', async () => {
  const { audit, events, written } = announced()
  await audit.append(revoked())
  await audit.append(revoked({ outcome: 'failed', reason: 'GitHub did not revoke it yet' }))
  await events.flush()
  expect(written).toEqual([
    {
      reason: 'TokenRevoked',
      count: 1,
      kind: 'RepositoryGrant',
      message: 'a token of this grant was revoked at GitHub: the grant was deleted',
    },
    {
      reason: 'TokenNotRevoked',
      count: 1,
      kind: 'RepositoryGrant',
      message: 'a token of this grant: GitHub did not revoke it yet',
    },
  ])
})

test('none for other records, another grant of the same name, or one that is gone', async () => {
  const { audit, events, written } = announced()
  await audit.append(revoked({ action: 'token.minted' }))
  await audit.append(revoked({ details: { grantUid: 'of an earlier one' } }))
  await audit.append(revoked({ object: 'RepositoryGrant/acme/gone' }))
  await audit.append(revoked({ object: 'Installation/acme/github' }))
  await events.flush()
  expect(written).toEqual([])
})

test('none for what the audit log did not accept', async () => {
  const { audit, events, written } = announced(() => Promise.reject(new AppError('unavailable', 'not writable')))
  await expect(audit.append(revoked())).rejects.toThrow('not writable')
  await events.flush()
  expect(written).toEqual([])
})

test('a thousand tokens of one grant make no more Events than the pace allows', async () => {
  const { audit, events, written } = announced()
  for (let token = 0; token < 1000; token++) await audit.append(revoked({ reason: `cause ${token}` }))
  await events.flush()
  expect(written.length).toBe(25)
})
