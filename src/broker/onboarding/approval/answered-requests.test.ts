// Which requests at owners are over: one row for each way in which they are answered, and in which they are not.
import { expect, test } from 'vitest'
import { defined } from '../../../lib/json/defined.ts'
import type { OnboardingRecord } from '../onboarding-records.ts'
import { answeredRequests } from './answered-requests.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))
const request = (id: string, minute: number, state: OnboardingRecord['state'], approvedInstallationId?: number) =>
  ({ id, state, createdAt: at(minute), intent: defined({ approvedInstallationId }) }) as unknown as OnboardingRecord
const sees = (installationId: number, administers = false) =>
  ({ installationId, login: 'globex', type: 'Organization', administers }) as const
const bound = (installationId: number, minute: number) => ({ installationId, boundAt: at(minute) })
const waits = request('w', 10, 'waiting-for-approval')
const needs = request('n', 10, 'needs-owner', 11)

type Facts = Parameters<typeof answeredRequests>
test.each<[string, Facts, readonly string[]]>([
  ['nothing happened', [[waits, needs], [sees(11)], []], []],
  ['its organisation was onboarded', [[needs], [sees(11)], [bound(11, 20)]], ['n']],
  ['its organisation had been onboarded before: it is answered, too', [[needs], [sees(11)], [bound(11, 5)]], ['n']],
  ['another one was onboarded', [[needs], [sees(11), sees(12)], [bound(12, 20)]], []],
  ['the person became an owner', [[needs], [sees(11, true)], []], ['n']],
  ['an organisation was onboarded after the request', [[waits], [sees(12)], [bound(12, 20)]], ['w']],
  ['in the same second', [[{ ...waits, createdAt: new Date(at(10).getTime() + 900) }], [sees(12)], [bound(12, 10)]], ['w']],
  ['an organisation was onboarded before the request', [[waits], [sees(12)], [bound(12, 5)]], []],
  ['one was onboarded that the person does not see', [[waits], [], [bound(12, 20)]], []],
  [
    'one of two requests is answered: the older one',
    [[request('b', 12, 'waiting-for-approval'), waits], [sees(12)], [bound(12, 20)]],
    ['w'],
  ],
  ['one installation answers one request', [[waits, needs], [sees(11)], [bound(11, 20)]], ['n']],
  [
    'what does not wait at an owner stays',
    [[request('p', 1, 'proved'), request('r', 1, 'refused')], [sees(12)], [bound(12, 20)]],
    [],
  ],
])('%s', (_what, facts, ids) => {
  expect(answeredRequests(...facts).map(({ id }) => id)).toEqual(ids)
})
