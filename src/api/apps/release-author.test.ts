import { expect, test } from 'vitest'
import type { Release } from './release.ts'
import { releaseAuthor } from './release-author.ts'

type By = Release['spec']['by']
const author = (by: By, reason = 'SpecChanged') => releaseAuthor({ by, reason } as Release['spec'])
const subject = 'github|github.com|7'

test.each<[By, string]>([
  [{ kind: 'User', name: subject, login: 'dave' }, `dave (${subject})`],
  [{ kind: 'User', name: subject }, subject],
  [{ kind: 'RemoteSync', name: 'shop', requestedBy: subject, login: 'dave' }, 'RemoteSync shop of dave'],
  [{ kind: 'RemoteSync', name: 'shop' }, 'RemoteSync shop'],
  [{ kind: 'Tag', name: 'registry.example.com/shop:1' }, 'tag registry.example.com/shop:1'],
  [{ kind: 'FieldManager', name: 'unknown (sekisho-cli)' }, 'somebody with the command sekisho: not recorded'],
  [{ kind: 'FieldManager', name: 'unknown (kubectl-edit)' }, 'somebody with kubectl: not recorded'],
  [{ kind: 'FieldManager', name: 'unknown (dave)' }, 'somebody by a program that calls itself “dave”: not recorded'],
  [{ kind: 'FieldManager', name: 'unknown' }, 'somebody by a program that is not known: not recorded'],
  [
    { kind: 'FieldManager', name: 'unknown (kubectl)', alsoChangedBy: subject, login: 'dave' },
    `dave (${subject}), perhaps with others with kubectl`,
  ],
])('%j', (by, text) => {
  expect(author(by)).toBe(text)
})

test('of a changed secret, the last program that wrote the Application is not the author', () => {
  expect(author({ kind: 'FieldManager', name: 'unknown (sekisho-cli)' }, 'SecretChanged')).toMatch(/AppSecret: not recorded/)
})
