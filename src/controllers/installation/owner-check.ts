// Asks GitHub, as the App, whether the person who bound an account still owns it. For an organisation the App needs the
// permission `members: read`; the token reads members and nothing in any repository, is audited before it exists, used once and
// revoked. Logins can pass to another person, so the person is found by id first and every answer is compared by id.
// Source: https://docs.github.com/en/rest/orgs/members#get-organization-membership-for-a-user
import type { Installation } from '../../api/github/installation.ts'
import {
  createOrganizationClient,
  createRepositoryClient,
  type Fetch,
  type InstallationFacts,
  type Names,
  notOwner,
  ownership,
} from '../../github/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/json/defined.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { GitHubApp } from '../../services/token-desk/app-clients.ts'
import { type PlatformRequest, type SingleUseTokenDeps, withSingleUseToken } from '../../services/token-desk/single-use-token.ts'

/** GitHub's answer about the person in `spec.boundBy`. */
export type OwnerAnswer =
  | { readonly kind: 'owner' }
  | { readonly kind: 'not-owner'; readonly message: string }
  /** The App may not read members: only the proof from the day of binding counts. */
  | { readonly kind: 'not-checkable' }
  /** GitHub was asked recently enough. */
  | { readonly kind: 'not-due' }

export type OwnerCheckDeps = SingleUseTokenDeps & {
  readonly clock: Clock
  readonly fetch?: Fetch
}

export type OwnerSubject = {
  readonly app: GitHubApp
  readonly object: Installation
  readonly installation: InstallationFacts
}

/** Whether the check costs a token: not for a person's account, and not when the App may not read members. */
export function needsToken({ account, permissions }: InstallationFacts): boolean {
  return account.type === 'Organization' && permissions['members'] !== undefined
}

/**
 * A user account is its own owner: `decide` compares the ids.
 * @throws AppError when GitHub or the audit log cannot be reached: then nothing was learned
 */
export async function checkOwner(deps: OwnerCheckDeps, subject: OwnerSubject): Promise<OwnerAnswer> {
  const { app, object, installation } = subject
  if (installation.account.type === 'User') return { kind: 'owner' }
  if (!needsToken(installation)) return { kind: 'not-checkable' }
  const { namespace = '', name } = object.metadata
  const { installationId } = object.spec
  const request: PlatformRequest = {
    actor: 'sekisho:installation-controller',
    namespace,
    object: `Installation/${namespace}/${name}`,
    reason: 'does the person who bound the organisation still own it',
    installationId,
    permissions: { members: 'read' },
  }
  const answer = await withSingleUseToken(deps, app, {
    request,
    mint: () => app.client.mintOrganizationReader(installationId),
    use: ({ token }) => membership(deps, subject, token),
  })
  return answer ?? { kind: 'not-checkable' }
}

async function membership(deps: OwnerCheckDeps, subject: OwnerSubject, token: SecretString): Promise<OwnerAnswer> {
  const { app, object, installation } = subject
  const { log, clock, fetch } = deps
  const clientDeps = { endpoints: app.endpoints, token, log, clock, ...defined({ fetch }) }
  const { boundBy } = object.spec
  const people = createRepositoryClient(clientDeps)
  const organizations = createOrganizationClient(clientDeps)
  const { installationId } = object.spec
  const names = async (organization: string | undefined): Promise<Names> => ({
    organization: organization ?? (await app.client.installation(installationId))?.account.login,
    person: (await people.userById(boundBy.id))?.login,
  })
  const ids = { organization: installation.account.id, person: boundBy.id }
  const found = await ownership({ names, membership: organizations.membership }, ids, installation.account.login)
  if (found === 'owner') return { kind: 'owner' }
  const { login } = installation.account
  const message = `${boundBy.login} (id ${boundBy.id}) ${notOwner[found]} ${login}: another owner takes over the binding on the page of the tenant, or onboards the organisation again`
  return { kind: 'not-owner', message }
}
