// The JSON of users and organizations. Logins are for display; the id is the identity.
import type { Account, Organization, OrganizationMembership, User } from '../state/accounts.ts'
import { repositoriesOf } from '../state/github-state.ts'
import { nodeId, type View } from './view.ts'

/** OpenAPI `simple-user`; organizations have this form too, with `type: Organization`. */
export function simpleUser({ links }: Pick<View, 'links'>, account: Account) {
  const url = links.api(`/users/${account.login}`)
  const type = account.kind === 'organization' ? 'Organization' : account.type
  return {
    login: account.login,
    id: account.id,
    node_id: nodeId(type, account.id),
    avatar_url: links.web(`/avatars/u/${account.id}`),
    gravatar_id: '',
    url,
    html_url: links.web(`/${account.login}`),
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type,
    user_view_type: 'public',
    site_admin: false,
  }
}

/** OpenAPI `public-user`: the public fields of an account. */
export function publicUser(context: View, account: Account) {
  return {
    ...simpleUser(context, account),
    name: account.name,
    company: null,
    blog: '',
    location: null,
    email: null,
    hireable: null,
    bio: null,
    twitter_username: null,
    public_repos: repositoriesOf(context.state, account.id).filter(one => !one.private).length,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: account.createdAt,
    updated_at: account.createdAt,
  }
}

/** OpenAPI `private-user`: what a user's own token shows. */
export function privateUser(context: View, user: User) {
  const owned = repositoriesOf(context.state, user.id).filter(one => one.private).length
  return {
    ...publicUser(context, user),
    email: user.email,
    private_gists: 0,
    total_private_repos: owned,
    owned_private_repos: owned,
    disk_usage: 0,
    collaborators: 0,
    two_factor_authentication: true,
  }
}

/** OpenAPI `organization-simple`. */
export function simpleOrganization({ links }: Pick<View, 'links'>, organization: Organization) {
  const url = links.api(`/orgs/${organization.login}`)
  return {
    login: organization.login,
    id: organization.id,
    node_id: nodeId('Organization', organization.id),
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: links.web(`/avatars/u/${organization.id}`),
    description: null,
  }
}

/** OpenAPI `organization-full`. */
export function fullOrganization(context: View, organization: Organization) {
  return {
    ...simpleOrganization(context, organization),
    name: organization.name,
    html_url: context.links.web(`/${organization.login}`),
    has_organization_projects: false,
    has_repository_projects: false,
    public_repos: repositoriesOf(context.state, organization.id).filter(one => !one.private).length,
    public_gists: 0,
    followers: 0,
    following: 0,
    type: 'Organization',
    created_at: organization.createdAt,
    updated_at: organization.createdAt,
    archived_at: null,
  }
}

/** OpenAPI `org-membership`. */
export function organizationMembership(
  context: View,
  organization: Organization,
  membership: OrganizationMembership,
  user: User,
) {
  return {
    url: context.links.api(`/orgs/${organization.login}/memberships/${user.login}`),
    state: membership.state,
    role: membership.role,
    organization_url: context.links.api(`/orgs/${organization.login}`),
    organization: simpleOrganization(context, organization),
    user: simpleUser(context, user),
  }
}
