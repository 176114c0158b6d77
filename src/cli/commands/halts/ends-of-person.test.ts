// What a dry run says about a person: counted for whom the platform lets count, in words for everybody else, and never from an
// answer about somebody else.
import { expect, test } from 'vitest'
import { AppError } from '../../../lib/errors.ts'
import type { PlatformApi } from '../../platform-api.ts'
import { endsText, readEndsOfPerson } from './ends-of-person.ts'

const person = { host: 'github.com', id: 42 }
const answering = (json: PlatformApi['json']) => ({ api: async () => ({ json }) as PlatformApi })

test('a platform admin reads how many sign-ins and onboardings would end', async () => {
  let asked = ''
  const ends = await readEndsOfPerson(
    answering(async (path, query) => {
      asked = `${path}?${query}`
      return { user: 'github|github.com|42', webSessions: 2, programs: 1, onboardings: 3 }
    }),
    person,
  )
  expect(asked).toBe('/api/v1/sessions/person?user=github%7Cgithub.com%7C42')
  expect(ends).toEqual({ idTokens: 'AtNextUse', counted: true, webSessions: 2, programs: 1, onboardings: 3 })
  expect(endsText(ends)).toMatch(/web sessions: 2, sign-ins of programs: 1, onboardings .*: 3; ID tokens/)
})

test.each(['forbidden', 'unauthenticated', 'unavailable'] as const)(
  'where the count is %s, the kinds are named, and why',
  async code => {
    const ends = await readEndsOfPerson(
      answering(() => Promise.reject(new AppError(code, 'no count'))),
      person,
    )
    expect(ends).toEqual({ idTokens: 'AtNextUse', counted: false, why: 'no count' })
    expect(endsText(ends)).toMatch(/every web session, every sign-in .* every onboarding .*\(not counted: no count\)/)
  },
)

test.each([
  ['somebody else', { user: 'github|github.com|43', webSessions: 0, programs: 0, onboardings: 0 }],
  ['no number', { user: 'github|github.com|42', webSessions: '0', programs: 0, onboardings: 0 }],
])('an answer about %s is none', async (_, answer) => {
  await expect(
    readEndsOfPerson(
      answering(async () => answer),
      person,
    ),
  ).rejects.toThrow('not valid')
})
