import { expect, test } from 'vitest'
import { movableClock } from '../../../test/fixtures/databases.ts'
import { groups } from '../../api/names.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { createAccessReviews } from './access-reviews.ts'
import { createPlatformAdmins } from './platform-admins.ts'

const identity = { subject: 'github|github.com|1', groups: [groups.owners('github.com', 7)] }

function fixture(answer: () => unknown) {
  const asked: unknown[] = []
  const clock = movableClock()
  const create = async (_type: unknown, object: { readonly spec?: unknown }) => {
    asked.push(object.spec)
    return { ...object, status: answer() }
  }
  const reviews = createAccessReviews({ kube: { create: create as unknown as KubeClient['create'] }, clock })
  return { asked, clock, admins: createPlatformAdmins(reviews) }
}

test('RBAC is asked about the person of the token, with the groups of the token', async () => {
  const { asked, admins } = fixture(() => ({ allowed: true }))
  const forged = { ...identity, groups: [...identity.groups, 'system:masters', 'sekisho:platform-admins'] }
  expect(await admins.includes(forged)).toBe(true)
  expect(asked).toEqual([
    {
      user: 'github|github.com|1',
      groups: ['github|github.com|org|7|owners', 'system:authenticated'],
      resourceAttributes: { group: 'sekisho.dev', resource: 'platforms', verb: 'administer' },
    },
  ])
})

test('a right that was just given counts within a second', async () => {
  let allowed = false
  const { asked, clock, admins } = fixture(() => ({ allowed }))
  expect(await admins.includes(identity)).toBe(false)
  allowed = true
  expect(await admins.includes(identity)).toBe(false)
  clock.advance(1)
  expect(await admins.includes(identity)).toBe(true)
  expect(asked).toHaveLength(2)
})

test('a right counts for ten seconds, for the same groups only', async () => {
  let allowed = true
  const { asked, clock, admins } = fixture(() => ({ allowed }))
  await Promise.all([admins.includes(identity), admins.includes(identity)])
  expect(asked).toHaveLength(1)
  allowed = false
  clock.advance(9)
  expect(await admins.includes(identity)).toBe(true)
  expect(await admins.includes({ ...identity, groups: [] })).toBe(false)
  clock.advance(1)
  expect(await admins.includes(identity)).toBe(false)
})

test.each([undefined, { allowed: false }, { allowed: true, denied: true }])(
  'the status %j makes nobody an admin',
  async status => {
    expect(await fixture(() => status).admins.includes(identity)).toBe(false)
  },
)

test('a subject that is not a person is never asked about', async () => {
  const { asked, admins } = fixture(() => ({ allowed: true }))
  for (const subject of ['system:admin', '', 'github|github.com|x'])
    expect(await admins.includes({ subject, groups: [] })).toBe(false)
  expect(asked).toEqual([])
})

test('without an answer of the API server nobody is an admin, and the next question is asked', async () => {
  let away = true
  const { admins } = fixture(() => {
    if (away) throw new KubeError('away', { status: 503, reason: 'Unreachable' })
    return { allowed: true }
  })
  await expect(admins.includes(identity)).rejects.toMatchObject({ code: 'unavailable' })
  away = false
  expect(await admins.includes(identity)).toBe(true)
})
