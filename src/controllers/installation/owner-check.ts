// Asks GitHub, as the App, whether the person who bound an account owns it, and if not, whether one who stands in does. For an
// organisation the App needs the permission `members: read`; the token reads members and nothing in any repository, is audited
// before it exists, used once and revoked. Logins can pass to another person, so each is found by id first and every answer is
// compared by id. Each person costs two requests, a stranger four.
// Source: https://docs.github.com/en/rest/orgs/members#get-organization-membership-for-a-user
import type { Installation, StandIn } from '../../api/github/installation.ts'
import {
  createOrganizationClient,
  createRepositoryClient,
  type Fetch,
  type InstallationFacts,
  type Names,
  notOwner,
  type Ownership,
  ownership,
} from '../../github/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/json/defined.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { GitHubApp } from '../../services/token-desk/app-clients.ts'
import { type PlatformRequest, type SingleUseTokenDeps, withSingleUseToken } from '../../services/token-desk/single-use-token.ts'

/** GitHub's answer about the person in `spec.boundBy`, and about those who stand in where that one is no owner. */
export type OwnerAnswer =
  | { readonly kind: 'owner' }
  /** Who bound the account does not own it any more; this one, who confirmed the same ceiling, does. */
  | { readonly kind: 'stand-in'; readonly standIn: Pick<StandIn, 'id' | 'login'> }
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
    reason: 'does the person who bound the organisation, or one who stands in, own it',
    installationId,
    permissions: { members: 'read' },
  }
  const answer = await withSingleUseToken(deps, app, {
    request,
    mint: () => app.client.mintOrganizationReader(installationId),
    use: ({ token }) => askAboutOwners(deps, subject, token),
  })
  return answer ?? { kind: 'not-checkable' }
}

async function askAboutOwners(deps: OwnerCheckDeps, subject: OwnerSubject, token: SecretString): Promise<OwnerAnswer> {
  const { app, object, installation } = subject
  const { log, clock, fetch } = deps
  const clientDeps = { endpoints: app.endpoints, token, log, clock, ...defined({ fetch }) }
  const people = createRepositoryClient(clientDeps)
  const { membership } = createOrganizationClient(clientDeps)
  const { installationId, boundBy, standIns = [] } = object.spec
  const { account } = installation
  const ownershipOf = (person: number): Promise<Ownership> => {
    const names = async (organization: string | undefined): Promise<Names> => ({
      organization: organization ?? (await app.client.installation(installationId))?.account.login,
      person: (await people.userById(person))?.login,
    })
    return ownership({ names, membership }, { organization: account.id, person }, account.login)
  }
  const found = await ownershipOf(boundBy.id)
  if (found === 'owner') return { kind: 'owner' }
  for (const { id, login } of standIns)
    if ((await ownershipOf(id)) === 'owner') return { kind: 'stand-in', standIn: { id, login } }
  const nobody = standIns.length === 0 ? '' : ', and nobody who stands in owns it'
  const message = `${boundBy.login} (id ${boundBy.id}) ${notOwner[found]} ${account.login}${nobody}: another owner takes over the binding on the page of the tenant, or onboards the organisation again`
  return { kind: 'not-owner', message }
}
