// Asks GitHub, as the App, whether the person who bound an organisation still owns it. Needs the App's permission members: read; the
// token for it reads members and nothing of any repository, is audited before it exists, used at once and revoked. Logins change
// hands, so the person is found by id first and every answer is compared by id.
// Source: https://docs.github.com/en/rest/orgs/members#get-organization-membership-for-a-user
import type { Installation } from '../../api/github/installation.ts'
import { createOrganizationClient, createRepositoryClient, type Fetch, type InstallationFacts } from '../../github/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { GitHubApp } from '../../token-desk/app-clients.ts'
import { type PlatformRequest, type SingleUseTokenDeps, withSingleUseToken } from '../../token-desk/single-use-token.ts'

export type OwnerFinding =
  | { readonly kind: 'owner' }
  | { readonly kind: 'not-owner'; readonly message: string }
  /** The App may not read members: the proof of the day of binding is all there is. */
  | { readonly kind: 'not-checkable' }
  /** Asked recently enough. */
  | { readonly kind: 'not-due' }

export type OwnerCheckDeps = SingleUseTokenDeps & {
  readonly clock: Clock
  readonly fetch?: Fetch
}

/** Throws AppError when GitHub or the audit log cannot be reached: then nothing was learned. */
export async function checkOwner(
  deps: OwnerCheckDeps,
  app: GitHubApp,
  object: Installation,
  facts: InstallationFacts,
): Promise<OwnerFinding> {
  if (facts.permissions['members'] === undefined) return { kind: 'not-checkable' }
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
  const finding = await withSingleUseToken(deps, app, {
    request,
    mint: () => app.client.mintOrganizationReader(installationId),
    use: ({ token }) => membership(deps, app, object, facts, token),
  })
  return finding ?? { kind: 'not-checkable' }
}

async function membership(
  deps: OwnerCheckDeps,
  app: GitHubApp,
  object: Installation,
  facts: InstallationFacts,
  token: SecretString,
): Promise<OwnerFinding> {
  const { log, clock, fetch } = deps
  const clientDeps = { endpoints: app.endpoints, token, log, clock, ...(fetch === undefined ? {} : { fetch }) }
  const { boundBy } = object.spec
  const notOwner = (what: string): OwnerFinding => ({
    kind: 'not-owner',
    message: `${boundBy.login} (id ${boundBy.id}) ${what} ${facts.account.login}: an owner has to onboard the organisation again`,
  })
  const person = await createRepositoryClient(clientDeps).userById(boundBy.id)
  if (person === undefined) return notOwner('is no longer on GitHub and cannot own')
  const found = await createOrganizationClient(clientDeps).membership(facts.account.login, person.login)
  const same = found?.organizationId === facts.account.id && found.userId === boundBy.id
  if (!found || !same) return notOwner('is no longer a member of')
  if (found.state !== 'active' || found.role !== 'admin') return notOwner('is no longer an owner of')
  return { kind: 'owner' }
}
