// Ownership by ids, while logins pass to other accounts.
import { expect, test } from 'vitest'
import { type Names, ownership } from './ownership.ts'

const ids = { organization: 2002, person: 1004 }
type Account = { readonly login: string; readonly id: number }

/** GitHub with these members of organisations; `renames` happen one by one after a question about a membership. */
function gitHub(roles: Readonly<Record<string, 'admin' | 'member'>>, renames: readonly (readonly Account[])[] = []) {
  const accounts = new Map([
    ['globex', 2002],
    ['gary', 1004],
  ])
  let at = 0
  const loginOf = (id: number): string | undefined => [...accounts].find(([, known]) => known === id)?.[0]
  return {
    accounts,
    reader: {
      names: async (organization: string | undefined): Promise<Names> => ({
        organization: organization ?? loginOf(ids.organization),
        person: loginOf(ids.person),
      }),
      membership: async (organization: string, person: string) => {
        // Renamed after the logins were read, and before the question arrives.
        for (const { login, id } of renames[at++] ?? []) {
          const before = loginOf(id)
          if (before !== undefined) accounts.delete(before)
          accounts.set(login, id)
        }
        const [organizationId, userId] = [accounts.get(organization), accounts.get(person)]
        const role = roles[`${organizationId}/${userId}`]
        if (organizationId === undefined || userId === undefined || role === undefined) return undefined
        return { state: 'active' as const, role, organizationId, userId }
      },
    },
  }
}

const owner = { '2002/1004': 'admin' } as const

test('an owner, a member, a stranger, and somebody who is not on GitHub any more', async () => {
  expect(await ownership(gitHub(owner).reader, ids, 'globex')).toBe('owner')
  expect(await ownership(gitHub({ '2002/1004': 'member' }).reader, ids, 'globex')).toBe('member')
  expect(await ownership(gitHub({}).reader, ids, 'globex')).toBe('stranger')
  const gone = gitHub(owner)
  gone.accounts.delete('gary')
  expect(await ownership(gone.reader, ids, 'globex')).toBe('gone')
})

test.each([
  ['the person', [[{ login: 'moved', id: 1004 }]]],
  ['the organisation', [[{ login: 'moved', id: 2002 }]]],
  [
    'the person, whose login another one takes',
    [
      [
        { login: 'moved', id: 1004 },
        { login: 'gary', id: 1005 },
      ],
    ],
  ],
  [
    'the organisation, whose login another one takes',
    [
      [
        { login: 'moved', id: 2002 },
        { login: 'globex', id: 2003 },
      ],
    ],
  ],
  ['one after the other', [[{ login: 'moved', id: 1004 }], [{ login: 'elsewhere', id: 2002 }]]],
])('a rename between two requests is no loss: %s', async (_, renames) => {
  const roles = { ...owner, '2003/1004': 'member', '2002/1005': 'member' } as const
  expect(await ownership(gitHub(roles, renames).reader, ids, 'globex')).toBe('owner')
})

test('an organisation whose last known login is old is asked by its present one', async () => {
  expect(await ownership(gitHub(owner).reader, ids, 'former')).toBe('owner')
})

test('nothing is learned while logins change with every question', async () => {
  const renames = Array.from({ length: 5 }, (_, index) => [{ login: `name-${index}`, id: 1004 }])
  await expect(ownership(gitHub(owner, renames).reader, ids, 'globex')).rejects.toThrow('change while they are checked')
})
