// Reads the organization of an Installation as the App, about people whom a grant concerns. The token never leaves this file and
// is revoked after use.
import type { Installation } from '../../../api/github/installation.ts'
import {
  createOrganizationClient,
  createRepositoryClient,
  type Fetch,
  type Names,
  type OrganizationClient,
  ownership,
  type RepositoryClient,
} from '../../../github/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { GitHubApp } from '../../../services/token-desk/app-clients.ts'
import { type SingleUseTokenDeps, withSingleUseToken } from '../../../services/token-desk/single-use-token.ts'

export type OrganizationReaderDeps = SingleUseTokenDeps & { readonly clock: Clock; readonly fetch?: Fetch }

/** For which grant, and what is to be known: for the audit log. */
export type OrganizationQuestion = {
  readonly grant: { readonly namespace: string; readonly name: string }
  readonly installationId: number
  readonly reason: string
}

/** Who asks GitHub about the organization and its people. */
export type OrganizationReader = {
  readonly organization: OrganizationClient
  readonly people: Pick<RepositoryClient, 'userById'>
  /** On which account the installation is now; undefined when it is gone. */
  readonly account: () => Promise<{ readonly id: number; readonly login: string } | undefined>
}

/** Needs the App's permission `members: read`. Undefined when GitHub does not have the installation. */
export function readOrganization<R>(
  deps: OrganizationReaderDeps,
  app: GitHubApp,
  { grant, installationId, reason }: OrganizationQuestion,
  use: (reader: OrganizationReader) => Promise<R>,
): Promise<R | undefined> {
  const { log, clock, fetch } = deps
  return withSingleUseToken(deps, app, {
    request: {
      actor: 'sekisho:repository-grant-controller',
      namespace: grant.namespace,
      object: `RepositoryGrant/${grant.namespace}/${grant.name}`,
      reason,
      installationId,
      permissions: { members: 'read' },
    },
    mint: () => app.client.mintOrganizationReader(installationId),
    use({ token }) {
      const client = { endpoints: app.endpoints, token, log, clock, ...defined({ fetch }) }
      return use({
        organization: createOrganizationClient(client),
        people: createRepositoryClient(client),
        account: async () => (await app.client.installation(installationId))?.account,
      })
    },
  })
}

/** What somebody is in an organization; undefined for who is no active member. */
export type OrganizationRole = 'admin' | 'member' | undefined

/**
 * By ids. The organization may have another login than the Installation says, and logins may pass to others meanwhile.
 * @throws AppError `unavailable` when the installation, or who has which login, changes meanwhile: then nothing is known
 */
export async function roleIn(
  { organization, people, account: present }: OrganizationReader,
  account: Installation['spec']['account'],
  personId: number,
): Promise<OrganizationRole> {
  const names = async (login: string | undefined): Promise<Names> => ({
    organization: login ?? (await loginOf(present, account)),
    person: (await people.userById(personId))?.login,
  })
  const ids = { organization: account.id, person: personId }
  const found = await ownership({ names, membership: organization.membership }, ids, account.login)
  return found === 'owner' ? 'admin' : found === 'member' ? 'member' : undefined
}

async function loginOf(present: OrganizationReader['account'], { id, login }: Installation['spec']['account']): Promise<string> {
  const found = await present()
  if (found?.id === id) return found.login
  throw new AppError('unavailable', `the installation is not on the organization ${login} (id ${id}) any more: nothing is known`)
}
