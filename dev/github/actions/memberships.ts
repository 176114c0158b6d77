// People who join and leave organizations and teams, with the webhooks that follow each change.
// https://docs.github.com/en/rest/orgs/members
import { membershipOf } from '../state/access.ts'
import type { AccountRole, Organization, OrganizationMembership, Team, User } from '../state/accounts.ts'
import { timestamp } from '../state/clock.ts'
import { Refusal } from '../state/refusal.ts'
import { organizationMembership, simpleOrganization, simpleUser } from '../views/account.ts'
import { simpleTeam } from '../views/team.ts'
import { nodeId } from '../views/view.ts'
import type { OrganizationAction } from './context.ts'

function emitMember(
  { context, organization, sender }: OrganizationAction,
  user: User,
  membership: OrganizationMembership,
  action: 'member_added' | 'member_removed',
): void {
  context.webhooks.emit({
    name: 'organization',
    action,
    accountId: organization.id,
    repositoryId: null,
    payload: {
      membership: organizationMembership(context, organization, membership, user),
      organization: simpleOrganization(context, organization),
      sender: simpleUser(context, sender),
    },
  })
}

function emitInvited({ context, organization, sender }: OrganizationAction, user: User, role: AccountRole): void {
  context.webhooks.emit({
    name: 'organization',
    action: 'member_invited',
    accountId: organization.id,
    repositoryId: null,
    payload: {
      invitation: {
        id: user.id,
        login: user.login,
        email: user.email,
        role: role === 'admin' ? 'admin' : 'direct_member',
        created_at: timestamp(context.now()),
        failed_at: null,
        failed_reason: null,
        inviter: simpleUser(context, sender),
        team_count: 0,
        invitation_teams_url: context.links.api(`/organizations/${organization.id}/invitations/${user.id}/teams`),
        node_id: nodeId('OrganizationInvitation', user.id),
        invitation_source: 'member',
      },
      user: simpleUser(context, user),
      organization: simpleOrganization(context, organization),
      sender: simpleUser(context, sender),
    },
  })
}

function refuseLastOwner(organization: Organization, user: User): void {
  const owners = organization.memberships.filter(one => one.role === 'admin' && one.state === 'active')
  if (owners.length === 1 && owners[0]?.userId === user.id) {
    throw new Refusal(403, 'You cannot remove or demote the last owner of an organization.')
  }
}

/** Sets the role of a member, or invites a person: an invitation is `pending` until the person accepts it. */
export function setRole(action: OrganizationAction, user: User, role: AccountRole): OrganizationMembership {
  const { context, organization } = action
  const existing = membershipOf(organization, user.id)
  if (existing) {
    if (role !== 'admin') refuseLastOwner(organization, user)
    context.store.change(() => {
      existing.role = role
    })
    return existing
  }
  const membership: OrganizationMembership = { userId: user.id, role, state: 'pending' }
  context.store.change(() => organization.memberships.push(membership))
  emitInvited(action, user, role)
  return membership
}

/** The sender accepts an invitation to the organization. */
export function acceptMembership(action: OrganizationAction): OrganizationMembership {
  const { context, organization, sender } = action
  const membership = membershipOf(organization, sender.id)
  if (!membership) throw new Refusal(404, 'Not Found')
  if (membership.state === 'active') return membership
  context.store.change(() => {
    membership.state = 'active'
  })
  emitMember(action, sender, membership, 'member_added')
  return membership
}

function emitTeamMember(
  { context, organization, sender }: OrganizationAction,
  team: Team,
  user: User,
  action: 'added' | 'removed',
): void {
  context.webhooks.emit({
    name: 'membership',
    action,
    accountId: organization.id,
    repositoryId: null,
    payload: {
      scope: 'team',
      member: simpleUser(context, user),
      team: simpleTeam(context, team),
      organization: simpleOrganization(context, organization),
      sender: simpleUser(context, sender),
    },
  })
}

/** Removes a person from a team. */
export function leaveTeam(action: OrganizationAction, team: Team, user: User): void {
  if (!team.members.some(one => one.userId === user.id)) return
  action.context.store.change(() => {
    team.members = team.members.filter(one => one.userId !== user.id)
  })
  emitTeamMember(action, team, user, 'removed')
}

/** Adds an active member of the organization to a team; other people must join the organization first. */
export function joinTeam(action: OrganizationAction, team: Team, user: User, role: 'member' | 'maintainer'): void {
  const { context, organization } = action
  if (membershipOf(organization, user.id)?.state !== 'active') {
    throw new Refusal(
      422,
      `${user.login} is not an active member of ${organization.login}; invite them and let them accept first.`,
    )
  }
  const existing = team.members.find(one => one.userId === user.id)
  context.store.change(() => {
    if (existing) existing.role = role
    else team.members.push({ userId: user.id, role })
  })
  if (!existing) emitTeamMember(action, team, user, 'added')
}

/** Removes a person from the organization and from all of its teams, or withdraws an invitation. */
export function leaveOrganization(action: OrganizationAction, user: User): void {
  const { context, organization } = action
  const membership = membershipOf(organization, user.id)
  if (!membership) throw new Refusal(404, 'Not Found')
  refuseLastOwner(organization, user)
  for (const team of context.state.teams.filter(one => one.organizationId === organization.id)) leaveTeam(action, team, user)
  context.store.change(() => {
    organization.memberships = organization.memberships.filter(one => one !== membership)
  })
  if (membership.state === 'active') emitMember(action, user, membership, 'member_removed')
}
