// What a Tenant says of its Installations.
import { expect, test } from 'vitest'
import type { Installation } from '../../api/github/installation.ts'
import { accessFields, gitHubAccessCondition } from './github-access.ts'

const installation = (name: string, reason?: string, message = 'why'): Installation => {
  const condition = { type: 'Ready', status: reason === 'Verified' ? 'True' : 'False', reason, message }
  return { metadata: { name }, status: { conditions: reason === undefined ? [] : [condition] } } as unknown as Installation
}

test.each<[string, readonly Installation[], readonly [status: string, reason: string, message: RegExp]]>([
  ['none', [], ['Unknown', 'InstallationsPending', /an owner of the account onboards it/]],
  ['ready ones', [installation('a', 'Verified'), installation('b', 'Verified')], ['True', 'InstallationsReady', /every/]],
  [
    'one that was uninstalled',
    [installation('a', 'InstallationNotFound')],
    ['False', 'InstallationNotReady', /Installation a: InstallationNotFound: why/],
  ],
  ['one that is new', [installation('a')], ['Unknown', 'InstallationsPending', /being checked/]],
  ['a GitHub that is away', [installation('a', 'GitHubUnreachable')], ['Unknown', 'InstallationsPending', /GitHubUnreachable/]],
  [
    'one that waits and one that takes somebody',
    [installation('a', 'GitHubUnreachable'), installation('b', 'InstallationSuspended'), installation('c', 'Verified')],
    ['False', 'InstallationNotReady', /Installation b: InstallationSuspended/],
  ],
  ['a reason of another version', [installation('a', 'Unheard')], ['Unknown', 'InstallationsPending', /Unheard/]],
])('%s', (_what, found, [status, reason, message]) => {
  expect(gitHubAccessCondition(found)).toEqual({
    ...{ type: 'GitHubAccess', status, reason },
    message: expect.stringMatching(message),
  })
})

test('a message has a bound', () => {
  expect(gitHubAccessCondition([installation('a', 'AppNotReady', 'x'.repeat(5000))]).message.length).toBe(1000)
})

test('a new cure of the same state is repeated, too', () => {
  expect(accessFields(installation('a', 'AppNotReady', 'one'))).not.toEqual(accessFields(installation('a', 'AppNotReady', 'two')))
})
