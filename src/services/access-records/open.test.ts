// The recorder when the log is well, fails or does not answer: the request passes in any case.
import { expect, test } from 'vitest'
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { createFakeClock, settle } from '../../lib/testing/fake-clock.ts'
import { silentLog as log } from '../../lib/testing/silent-log.ts'
import { createCountedAudit } from '../../store/audit/counted-audit.ts'
import { createAccessRecorder } from './open.ts'

function deletionBy(username: string): Buffer {
  const resource = { group: 'github.sekisho.dev', resource: 'repositorygrants' }
  const oldObject = { metadata: { name: 'read-shop', namespace: 'acme', uid: 'g-1' } }
  const request = { uid: crypto.randomUUID(), operation: 'DELETE', resource, userInfo: { username }, oldObject }
  return Buffer.from(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', request }))
}

function recorder(append: (record: AuditRecord) => Promise<unknown>) {
  const clock = createFakeClock()
  return { clock, record: createAccessRecorder({ counted: createCountedAudit({ audit: { append }, clock, log }), clock, log }) }
}
const isAllowed = (answer: string): boolean => JSON.parse(answer).response.allowed

test('a request is answered after it is recorded, and equal requests of one user are counted', async () => {
  const records: AuditRecord[] = []
  const { record } = recorder(async one => records.push(one))
  for (const user of ['dave', 'dave', 'olivia', 'dave']) expect(isAllowed(await record(deletionBy(user)))).toBe(true)
  expect(records.map(({ actor }) => actor)).toEqual(['dave', 'olivia'])
})

test('a request passes while the log fails', async () => {
  const { record } = recorder(() => Promise.reject(new Error('the database is away')))
  expect(isAllowed(await record(deletionBy('dave')))).toBe(true)
})

test('a request passes in time while the log does not answer', async () => {
  const { clock, record } = recorder(() => new Promise(() => {}))
  const answer = record(deletionBy('dave'))
  await settle()
  await clock.advance(1500)
  expect(isAllowed(await answer)).toBe(true)
})
