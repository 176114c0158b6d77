// What people are in the organization of an Installation, while logins change.
import { expect, test } from 'vitest'
import { type OrganizationReader, roleIn } from './organization-reader.ts'
import { teamsOf } from './requester-memberships.ts'

const account = { host: 'github.test', id: 2001, login: 'acme', type: 'Organization' } as const

type GitHub = {
  /** The present login of the organization. */
  readonly login?: string
  readonly organizationId?: number
  /** Answers of `GET /user/{id}`, in turn; the last one stays. */
  readonly people?: readonly (string | undefined)[]
  readonly state?: 'active' | 'pending'
  readonly members?: readonly string[]
}

function reader({ login = 'acme', organizationId = 2001, people = ['mia'], state = 'active', members = ['mia'] }: GitHub) {
  let at = 0
  const made = {
    organization: {
      membership: async (organization: string, person: string) => {
        const isMember = organization === login && members.includes(person)
        return isMember ? { state, role: 'member', organizationId: 2001, userId: 1003 } : undefined
      },
      isTeamMember: async (_: number, __: number, person: string) => members.includes(person),
    },
    people: {
      userById: async (id: number) => {
        const found = people[Math.min(at++, people.length - 1)]
        return found === undefined ? undefined : { id, login: found }
      },
    },
    account: async () => ({ id: organizationId, login }),
  }
  return made as unknown as OrganizationReader
}

test.each<[string, GitHub, string | undefined]>([
  ['a member', {}, 'member'],
  ['a member of an organization that has another login by now', { login: 'acme-corp' }, 'member'],
  ['a member who has another login by now', { people: ['mia', 'mia-2'], members: ['mia-2'] }, 'member'],
  ['a member whom GitHub does not find once', { people: [undefined, 'mia'] }, 'member'],
  ['nobody, who is asked about twice', { members: [] }, undefined],
  ['nobody, who is not on GitHub any more', { people: [undefined] }, undefined],
  ['nobody, who is only invited', { state: 'pending' }, undefined],
])('%s', async (_, gitHub, role) => {
  expect(await roleIn(reader(gitHub), account, 1003)).toBe(role)
})

test('nothing is known when the installation is on another account, or logins change with each question', async () => {
  const moved = roleIn(reader({ members: [], organizationId: 2002 }), account, 1003)
  await expect(moved).rejects.toMatchObject({ code: 'unavailable' })
  const people = Array.from({ length: 9 }, (_, index) => `mia-${index}`)
  await expect(roleIn(reader({ members: [], people }), account, 1003)).rejects.toMatchObject({ code: 'unavailable' })
})

test('teams are those of the person: nothing is known when the login passed to another meanwhile', async () => {
  const mia = { id: 1003, login: 'mia' }
  expect(await teamsOf(reader({}), account.id, mia, [7])).toEqual(new Set([7]))
  expect(await teamsOf(reader({ members: [] }), account.id, mia, [7])).toEqual(new Set())
  const renamed = teamsOf(reader({ members: [], people: ['mia-2'] }), account.id, mia, [7])
  await expect(renamed).rejects.toMatchObject({ code: 'unavailable' })
})
