// Owns: changes that on real GitHub people make by hand: joining, leaving, new accounts and repositories; with the webhooks they send.
import { membershipOf } from '../access.ts'
import { days, timestamp } from '../clock.ts'
import type { Context } from '../context.ts'
import { commitFiles } from '../git/write.ts'
import { invalidField } from '../rest/answer.ts'
import type { Fields } from '../rest/body.ts'
import type { Organization, User } from '../state/accounts.ts'
import type { Repository } from '../state/repositories.ts'
import { accountByLogin, nextId, organizationByLogin, repositoryByName, teamBySlug, userByLogin } from '../state/world.ts'
import { credentialKey, newPersonalToken } from '../tokens/formats.ts'
import { organizationMembership, simpleOrganization, simpleUser } from '../views/account.ts'
import { eventFrame } from '../views/event-frame.ts'
import { simpleTeam } from '../views/team.ts'

const validName = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$/

const existing = <Value>(value: Value | undefined, resource: string, field: string): Value => {
  if (value === undefined) throw invalidField(resource, field, 'invalid')
  return value
}

/** A new person with a personal access token. */
export const addUser = (context: Context, fields: Fields) => {
  const login = fields.text('login', 39)
  if (!validName.test(login)) throw invalidField('User', 'login', 'invalid')
  if (accountByLogin(context.world, login)) throw invalidField('User', 'login', 'already_exists')
  const token = newPersonalToken()
  const now = context.now()
  const user = context.store.change((world): User => {
    const made: User = {
      kind: 'user',
      id: nextId(world),
      login,
      name: fields.optionalText('name', 100) ?? login,
      email: `${login}@example.test`,
      type: 'User',
      createdAt: timestamp(now),
    }
    world.users.push(made)
    world.credentials.accessTokens[credentialKey(token)] = {
      kind: 'personal',
      userId: made.id,
      createdAt: now,
      expiresAt: now + days(366),
    }
    return made
  })
  return { id: user.id, login, token }
}

/** A new repository with one commit. */
export const addRepository = async (context: Context, fields: Fields) => {
  const owner = existing(accountByLogin(context.world, fields.text('owner', 39)), 'Repository', 'owner')
  const name = fields.text('name', 100)
  if (!validName.test(name)) throw invalidField('Repository', 'name', 'invalid')
  if (repositoryByName(context.world, owner.login, name)) throw invalidField('Repository', 'name', 'already_exists')
  const at = timestamp(context.now())
  const id = context.store.change(nextId)
  await context.git.create(id, 'main')
  const author = { name: owner.login, email: `${owner.login}@example.test` }
  await commitFiles(
    context.git,
    id,
    'main',
    { 'README.md': `# ${name}\n` },
    { message: 'First commit\n', author, at: context.now() },
  )
  const repository: Repository = {
    id,
    ownerId: owner.id,
    name,
    description: fields.optionalText('description', 350) ?? null,
    private: fields.optionalBoolean('private') ?? true,
    archived: false,
    defaultBranch: 'main',
    collaborators: [],
    createdAt: at,
    updatedAt: at,
    pushedAt: at,
    lastNumber: 0,
  }
  context.store.change(world => world.repositories.push(repository))
  const creator =
    owner.kind === 'user' ? owner : existing(userByLogin(context.world, fields.text('creator', 39)), 'Repository', 'creator')
  const payload = eventFrame(context, repository, creator)
  context.webhooks.emit({ name: 'repository', action: 'created', accountId: owner.id, repositoryId: id, payload })
  return { id, full_name: `${owner.login}/${name}` }
}

const tellOrganization = (
  context: Context,
  organization: Organization,
  user: User,
  action: string,
  membership: Organization['memberships'][number],
): void =>
  context.webhooks.emit({
    name: 'organization',
    action,
    accountId: organization.id,
    repositoryId: null,
    payload: {
      membership: organizationMembership(context, organization, membership, user),
      organization: simpleOrganization(context, organization),
      sender: simpleUser(context, user),
    },
  })

/** Sets `role` (`admin`, `member`, `none`) and `state` of a person in an organization; `none` removes them from its teams too. */
export const setMembership = (context: Context, fields: Fields) => {
  const organization = existing(organizationByLogin(context.world, fields.text('organization', 39)), 'Membership', 'organization')
  const user = existing(userByLogin(context.world, fields.text('login', 39)), 'Membership', 'login')
  const role = existing(fields.optionalOneOf('role', ['admin', 'member', 'none'] as const), 'Membership', 'role')
  const state = fields.optionalOneOf('state', ['active', 'pending']) ?? 'active'
  const before = membershipOf(organization, user.id)
  context.store.change(world => {
    organization.memberships = organization.memberships.filter(one => one !== before)
    if (role !== 'none') organization.memberships.push({ userId: user.id, role, state })
    if (role !== 'none') return
    for (const team of world.teams.filter(one => one.organizationId === organization.id)) {
      team.members = team.members.filter(one => one.userId !== user.id)
    }
  })
  const after = membershipOf(organization, user.id)
  if (after?.state === 'active' && before?.state !== 'active')
    tellOrganization(context, organization, user, 'member_added', after)
  if (before?.state === 'active' && !after) tellOrganization(context, organization, user, 'member_removed', before)
  return { organization: organization.id, user: user.id, role, state }
}

/** Puts a person into a team or takes them out (`member: false`). */
export const setTeamMember = (context: Context, fields: Fields) => {
  const organization = existing(organizationByLogin(context.world, fields.text('organization', 39)), 'TeamMember', 'organization')
  const team = existing(teamBySlug(context.world, organization.id, fields.text('team', 100)), 'TeamMember', 'team')
  const user = existing(userByLogin(context.world, fields.text('login', 39)), 'TeamMember', 'login')
  const member = fields.optionalBoolean('member') ?? true
  if (team.members.some(one => one.userId === user.id) === member) return { team: team.id, user: user.id, member }
  context.store.change(() => {
    team.members = team.members.filter(one => one.userId !== user.id)
    if (member) team.members.push({ userId: user.id, role: 'member' })
  })
  context.webhooks.emit({
    name: 'membership',
    action: member ? 'added' : 'removed',
    accountId: organization.id,
    repositoryId: null,
    payload: {
      scope: 'team',
      member: simpleUser(context, user),
      team: simpleTeam(context, team),
      organization: simpleOrganization(context, organization),
      sender: simpleUser(context, user),
    },
  })
  return { team: team.id, user: user.id, member }
}
