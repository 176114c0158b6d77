// Lists the accounts with the App installed that a person could onboard. It reads GitHub as the person, who sees an
// organisation only when the App is installed on it. The result is for a page only: the proof is made again for the
// installation that the person chooses.
import type { InstallationFacts, UserClient } from '../../github/index.ts'
import { visibleMembership } from '../people/visible-membership.ts'

export type Candidate = {
  readonly installationId: number
  readonly login: string
  readonly type: 'Organization' | 'User'
  readonly administers: boolean
}

async function administers(client: UserClient, personId: number, { account }: InstallationFacts): Promise<boolean> {
  if (account.type === 'User') return account.id === personId
  const membership = await visibleMembership(client, account.login)
  return membership?.state === 'active' && membership.role === 'admin' && membership.organizationId === account.id
}

/** Every account that has the App `appId` and that the person can see; `administers` says whether the person could onboard it. */
export async function onboardingCandidates(client: UserClient, appId: number, personId: number): Promise<readonly Candidate[]> {
  const installations = (await client.installations()).filter(installation => installation.appId === appId)
  return Promise.all(
    installations.map(async installation => ({
      installationId: installation.id,
      login: installation.account.login,
      type: installation.account.type,
      administers: await administers(client, personId, installation),
    })),
  )
}
