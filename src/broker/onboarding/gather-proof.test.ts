import { expect, test } from 'vitest'
import type { InstallationFacts, UserClient } from '../../github/index.ts'
import { AppError } from '../../lib/errors.ts'
import { gatherProof } from './gather-proof.ts'

const installation: InstallationFacts = {
  id: 77,
  appId: 1,
  account: { id: 2, login: 'acme', type: 'Organization' },
  suspendedAt: undefined,
  repositorySelection: 'all',
  permissions: {},
}
const request = { appId: 1, personId: 3, installationId: 77 }

function client(membership: UserClient['organizationMembership']): UserClient {
  const none = async () => []
  return {
    user: async () => ({ id: 3, login: 'olivia' }),
    installations: async () => [installation],
    installationRepositories: none,
    organizationMembership: membership,
    organizations: none,
    teams: none,
    organizationTeams: none,
  }
}

test('an organisation behind single sign-on is refused with the cure', async () => {
  const refusing = client(async () => {
    throw new AppError('forbidden', 'GitHub answered 403', { reason: 'SingleSignOnNeeded' })
  })
  await expect(gatherProof(refusing, request)).rejects.toThrow('acme uses single sign-on: open it on GitHub')
})

test('a membership that GitHub does not show is undefined', async () => {
  const refusing = client(async () => {
    throw new AppError('forbidden', 'GitHub answered 403')
  })
  expect((await gatherProof(refusing, request)).membership).toBeUndefined()
})

test('an outage of GitHub is not a refusal', async () => {
  const away = client(async () => {
    throw new AppError('unavailable', 'GitHub cannot be reached')
  })
  await expect(gatherProof(away, request)).rejects.toMatchObject({ code: 'unavailable' })
})
