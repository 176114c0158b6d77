// A new login for a person or an organization. Ids stay, repositories are found under the old name too, and the old login is
// free. https://docs.github.com/en/organizations/managing-organization-settings/renaming-an-organization
import { membershipOf } from '../../state/access.ts'
import type { Account, Organization, User } from '../../state/accounts.ts'
import { accountByLogin, type GitHubState, repositoriesOf } from '../../state/github-state.ts'
import { Refusal } from '../../state/refusal.ts'
import { organizationMembership, simpleOrganization, simpleUser } from '../../views/account.ts'
import { nodeId } from '../../views/view.ts'
import type { ActionContext } from '../context.ts'
import { emitInstallation } from '../install-app.ts'
import { claimName, leaveName } from '../repository/names.ts'

/**
 * https://docs.github.com/en/site-policy/other-site-policies/github-username-policy: letters, digits and single inner hyphens.
 */
const validLogin = /^[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}$/

/** Keeps former names below the old login valid; a present name of the account's repositories leads to no other repository. */
function moveNames(state: GitHubState, account: Account, login: string): void {
  const old = account.login.toLowerCase()
  const repositories = repositoriesOf(state, account.id)
  for (const repository of repositories) leaveName(state, repository)
  for (const one of state.repositoryRedirects.filter(one => one.owner === old)) {
    state.repositoryRedirects.push({ ...one, owner: login.toLowerCase() })
  }
  account.login = login
  for (const repository of repositories) claimName(state, login, repository.name)
}

function emitRenamed(context: ActionContext, organization: Organization, sender: User, from: string): void {
  const membership = membershipOf(organization, sender.id)
  context.webhooks.emit({
    name: 'organization',
    action: 'renamed',
    accountId: organization.id,
    repositoryId: null,
    payload: {
      changes: { login: { from } },
      ...(membership ? { membership: organizationMembership(context, organization, membership, sender) } : {}),
      organization: simpleOrganization(context, organization),
      sender: simpleUser(context, sender),
    },
  })
}

/** Renames an account; the caller has checked that `sender` administers it. */
export function renameAccount(context: ActionContext, account: Account, sender: User, login: string): void {
  if (login === account.login) return
  if (!validLogin.test(login))
    throw new Refusal(422, 'A name may have letters, digits and single hyphens between them, 39 at most.')
  const holder = accountByLogin(context.state, login)
  if (holder && holder.id !== account.id) throw new Refusal(422, `The name ${login} is taken.`)
  const from = account.login
  context.store.change(state => moveNames(state, account, login))
  if (account.kind === 'organization') emitRenamed(context, account, sender, from)
  for (const installation of context.state.installations.filter(one => one.accountId === account.id)) {
    emitInstallation(context, installation, {
      name: 'installation_target',
      action: 'renamed',
      senderId: sender.id,
      more: {
        // Unlike the other events about an installation, this one names it in short.
        installation: { id: installation.id, node_id: nodeId('IntegrationInstallation', installation.id) },
        account: simpleUser(context, account),
        changes: { login: { from } },
        target_type: account.kind === 'organization' ? 'Organization' : 'User',
      },
    })
  }
}
