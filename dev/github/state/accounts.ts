// The shape of users, organizations and teams. Their identity is the numeric id; users and organizations share one sequence of
// ids, as on GitHub. It never holds a credential.

export type AccountRole = 'admin' | 'member'
export type MembershipState = 'active' | 'pending'

/** The roles that a collaborator, a team or an organization's base permission can grant on a repository, weakest first. */
export const repositoryRoles = ['none', 'read', 'triage', 'write', 'maintain', 'admin'] as const
export type RepositoryRole = (typeof repositoryRoles)[number]

export type User = {
  readonly kind: 'user'
  readonly id: number
  login: string
  name: string
  email: string
  /** `Bot` is the account as which a GitHub App acts; its login is `<slug>[bot]`. */
  readonly type: 'User' | 'Bot'
  readonly createdAt: string
}

export type OrganizationMembership = { readonly userId: number; role: AccountRole; state: MembershipState }

export type Organization = {
  readonly kind: 'organization'
  readonly id: number
  login: string
  name: string
  basePermission: 'none' | 'read' | 'write' | 'admin'
  /** `members_can_create_repositories` of the organization; absent: as GitHub's default, which lets them. */
  membersCanCreateRepositories?: boolean
  memberships: OrganizationMembership[]
  readonly createdAt: string
}

export type Account = User | Organization

export type Team = {
  readonly id: number
  readonly organizationId: number
  slug: string
  name: string
  description: string | null
  privacy: 'closed' | 'secret'
  parentId: number | null
  members: { readonly userId: number; role: 'member' | 'maintainer' }[]
  repositories: { readonly repositoryId: number; role: RepositoryRole }[]
  readonly createdAt: string
}
