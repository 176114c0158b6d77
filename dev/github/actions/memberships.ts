// Owns: who joins and leaves organizations and teams, with the webhooks each change sends. The caller has checked the permissions.
// https://docs.github.com/en/rest/orgs/members
import { membershipOf } from '../state/access.ts'
import type { AccountRole, Organization, OrganizationMembership, Team, User } from '../state/accounts.ts'
import { timestamp } from '../state/clock.ts'
import { Refusal } from '../state/refusal.ts'
import { organizationMembership, simpleOrganization, simpleUser } from '../views/account.ts'
import { simpleTeam } from '../views/team.ts'
import { nodeId } from '../views/view.ts'
import type { ActionContext } from './context.ts'

function tellOrganization(
  context: ActionContext,
  organization: Organization,
  subject: { readonly user: User; readonly membership: OrganizationMembership },
  sender: User,
  action: 'member_added' | 'member_removed',
): void {
  context.webhooks.emit({
    name: 'organization',
    action,
    accountId: organization.id,
    repositoryId: null,
    payload: {
      membership: organizationMembership(context, organization, subject.membership, subject.user),
      organization: simpleOrganization(context, organization),
      sender: simpleUser(context, sender),
    },
  })
}

function tellInvited(
  context: ActionContext,
  organization: Organization,
  user: User,
  membership: OrganizationMembership,
  inviter: User,
): void {
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
        role: membership.role === 'admin' ? 'admin' : 'direct_member',
        created_at: timestamp(context.now()),
        failed_at: null,
        failed_reason: null,
        inviter: simpleUser(context, inviter),
        team_count: 0,
        invitation_teams_url: context.links.api(`/organizations/${organization.id}/invitations/${user.id}/teams`),
        node_id: nodeId('OrganizationInvitation', user.id),
        invitation_source: 'member',
      },
      user: simpleUser(context, user),
      organization: simpleOrganization(context, organization),
      sender: simpleUser(context, inviter),
    },
  })
}

function ownersOf(organization: Organization): readonly OrganizationMembership[] {
  return organization.memberships.filter(one => one.role === 'admin' && one.state === 'active')
}

function refuseLastOwner(organization: Organization, user: User): void {
  const owners = ownersOf(organization)
  if (owners.length === 1 && owners[0]?.userId === user.id) {
    throw new Refusal(403, 'You cannot remove or demote the last owner of an organization.')
  }
}

/** Sets the role of a member, or invites somebody: an invitation is `pending` until the person accepts it. */
export function setRole(
  context: ActionContext,
  organization: Organization,
  user: User,
  role: AccountRole,
  inviter: User = user,
): OrganizationMembership {
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
  tellInvited(context, organization, user, membership, inviter)
  return membership
}

/** The invited person accepts. */
export function acceptMembership(context: ActionContext, organization: Organization, user: User): OrganizationMembership {
  const membership = membershipOf(organization, user.id)
  if (!membership) throw new Refusal(404, 'Not Found')
  if (membership.state === 'active') return membership
  context.store.change(() => {
    membership.state = 'active'
  })
  tellOrganization(context, organization, { user, membership }, user, 'member_added')
  return membership
}

function tellTeam(
  context: ActionContext,
  organization: Organization,
  team: Team,
  user: User,
  sender: User,
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

/** Takes a person out of a team. */
export function leaveTeam(context: ActionContext, organization: Organization, team: Team, user: User, sender: User): void {
  if (!team.members.some(one => one.userId === user.id)) return
  context.store.change(() => {
    team.members = team.members.filter(one => one.userId !== user.id)
  })
  tellTeam(context, organization, team, user, sender, 'removed')
}

/** Puts a member of the organization into a team; who is no active member must be invited to the organization first. */
export function joinTeam(
  context: ActionContext,
  organization: Organization,
  team: Team,
  user: User,
  role: 'member' | 'maintainer',
  sender: User,
): void {
  if (membershipOf(organization, user.id)?.state !== 'active') {
    throw new Refusal(422, `${user.login} is no active member of ${organization.login}; invite them and let them accept first.`)
  }
  const existing = team.members.find(one => one.userId === user.id)
  context.store.change(() => {
    if (existing) existing.role = role
    else team.members.push({ userId: user.id, role })
  })
  if (!existing) tellTeam(context, organization, team, user, sender, 'added')
}

/** Removes a person from the organization and from all of its teams, or withdraws an invitation. */
export function leaveOrganization(context: ActionContext, organization: Organization, user: User, sender: User): void {
  const membership = membershipOf(organization, user.id)
  if (!membership) throw new Refusal(404, 'Not Found')
  refuseLastOwner(organization, user)
  for (const team of context.world.teams.filter(one => one.organizationId === organization.id)) {
    leaveTeam(context, organization, team, user, sender)
  }
  context.store.change(() => {
    organization.memberships = organization.memberships.filter(one => one !== membership)
  })
  if (membership.state === 'active') tellOrganization(context, organization, { user, membership }, sender, 'member_removed')
}
