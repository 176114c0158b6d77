// Reads the organization of an Installation as the App, about people whom a grant concerns. The token never leaves this file and
// is revoked after use.
import type { Installation } from '../../../api/github/installation.ts'
import {
  createOrganizationClient,
  createRepositoryClient,
  type Fetch,
  type OrganizationClient,
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
      return use({ organization: createOrganizationClient(client), people: createRepositoryClient(client) })
    },
  })
}

/** What somebody is in an organization; undefined for who is no active member. */
export type OrganizationRole = 'admin' | 'member' | undefined

/** @throws AppError `integrity_violation` when the logins mean others by now: then nothing is known */
export async function roleIn(
  client: OrganizationClient,
  account: Installation['spec']['account'],
  person: { readonly id: number; readonly login: string },
): Promise<OrganizationRole> {
  const membership = await client.membership(account.login, person.login)
  if (membership === undefined) {
    if (await client.isLoginOf(account.id, account.login)) return undefined
    throw new AppError('integrity_violation', `the organization ${account.login} is not the one of the Installation any more`)
  }
  if (membership.organizationId !== account.id || membership.userId !== person.id)
    throw new AppError('integrity_violation', 'GitHub answered about the membership of another person or organization')
  return membership.state === 'active' ? membership.role : undefined
}
