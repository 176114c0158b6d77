// Owns: every route of organizations, teams, collaborators and invitations called once with success, and what each must say.
import { expect } from 'vitest'
import { person, type Site } from './site.ts'

const acme = { org: 'acme' }

const exerciseMembers = async (site: Site): Promise<void> => {
  const [olivia, mia] = [person(site, 'olivia'), person(site, 'mia')]
  const member = { ...acme, username: 'mia' }
  await mia.request('PUT /orgs/{org}/public_members/{username}', member)
  expect((await olivia.request('GET /orgs/{org}/public_members', acme)).data.map(one => one.login)).toEqual(['mia'])
  await olivia.request('GET /orgs/{org}/public_members/{username}', member)
  expect((await olivia.request('GET /users/{username}/orgs', { username: 'mia' })).data.map(one => one.login)).toEqual(['acme'])
  await mia.request('DELETE /orgs/{org}/public_members/{username}', member)
  expect((await olivia.request('GET /orgs/{org}/public_members', acme)).data).toEqual([])
  expect((await olivia.request('PATCH /orgs/{org}', { ...acme, description: 'Makes things' })).data.description).toBe(
    'Makes things',
  )
  expect((await olivia.request('GET /orgs/{org}/installations', acme)).data.total_count).toBe(1)
}

const exerciseTeams = async (site: Site): Promise<void> => {
  const olivia = person(site, 'olivia')
  const { data: parent } = await olivia.request('POST /orgs/{org}/teams', {
    ...acme,
    name: 'Everybody Else',
    privacy: 'closed',
    maintainers: ['mia'],
  })
  expect(parent.slug).toBe('everybody-else')
  const { data: child } = await olivia.request('POST /orgs/{org}/teams', { ...acme, name: 'Child', parent_team_id: parent.id })
  const given = { ...acme, team_slug: parent.slug, owner: 'acme', repo: 'secret-plans' }
  await olivia.request('PUT /orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}', { ...given, permission: 'push' })
  await olivia.request('GET /orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}', { ...given, team_slug: child.slug })
  const { data: teams } = await olivia.request('GET /repos/{owner}/{repo}/teams', { owner: 'acme', repo: 'secret-plans' })
  expect(teams.map(one => [one.slug, one.permission])).toEqual([['everybody-else', 'push']])
  const renamed = { ...acme, team_slug: parent.slug, name: 'Others', description: 'The rest' }
  expect((await olivia.request('PATCH /orgs/{org}/teams/{team_slug}', renamed)).data.slug).toBe('others')
  const taken = { ...given, team_slug: 'others' }
  await olivia.request('DELETE /orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}', taken)
  await olivia.request('DELETE /orgs/{org}/teams/{team_slug}', { ...acme, team_slug: 'others' })
  expect((await olivia.request('GET /orgs/{org}/teams', acme)).data.map(one => one.slug)).toEqual(['developers'])
}

const exerciseCollaborators = async (site: Site): Promise<void> => {
  const [olivia, noah] = [person(site, 'olivia'), person(site, 'noah')]
  const plans = { owner: 'acme', repo: 'secret-plans' }
  const asked = { ...plans, username: 'noah', permission: 'triage' }
  const offer = await olivia.request('PUT /repos/{owner}/{repo}/collaborators/{username}', asked)
  const onServer = site.emulator.context.settings.flavour === 'enterprise-server'
  expect(offer.status).toBe(onServer ? 204 : 201)
  const { data: pending } = await olivia.request('GET /repos/{owner}/{repo}/invitations', plans)
  expect(pending).toHaveLength(onServer ? 0 : 1)
  const { data: mine } = await noah.request('GET /user/repository_invitations')
  for (const one of mine)
    await noah.request('PATCH /user/repository_invitations/{invitation_id}', { invitation_id: Number(one.id) })
  await olivia.request('GET /repos/{owner}/{repo}/collaborators/{username}', asked)
  const { data: outside } = await olivia.request('GET /repos/{owner}/{repo}/collaborators', { ...plans, affiliation: 'outside' })
  expect(outside.map(one => [one.login, one.role_name])).toEqual([['noah', 'triage']])
  expect((await olivia.request('GET /orgs/{org}/outside_collaborators', acme)).data.map(one => one.login)).toEqual(['noah'])
  await olivia.request('DELETE /orgs/{org}/outside_collaborators/{username}', { ...acme, username: 'noah' })
  await olivia.request('PUT /repos/{owner}/{repo}/collaborators/{username}', { ...asked, username: 'mia' })
  await olivia.request('DELETE /repos/{owner}/{repo}/collaborators/{username}', { ...asked, username: 'mia' })
  expect((await olivia.request('GET /repos/{owner}/{repo}/collaborators', { ...plans, affiliation: 'direct' })).data).toEqual([])
}

/** An invitation that is declined and one that is withdrawn; a GitHub Enterprise Server gives access without asking. */
const exerciseInvitations = async (site: Site): Promise<void> => {
  const { context } = site.emulator
  const [olivia, noah] = [person(site, 'olivia'), person(site, 'noah')]
  const invite = (id: number): void => {
    context.store.change(world =>
      world.repositoryInvitations.push({
        id,
        repositoryId: 4002,
        inviteeId: 1005,
        inviterId: 1001,
        role: 'read',
        createdAt: '2026-01-01T00:00:00Z',
      }),
    )
  }
  for (const id of [90_001, 90_002, 90_003]) invite(id)
  const plans = { owner: 'acme', repo: 'secret-plans' }
  await noah.request('GET /user/repository_invitations')
  await noah.request('DELETE /user/repository_invitations/{invitation_id}', { invitation_id: 90_001 })
  await olivia.request('DELETE /repos/{owner}/{repo}/invitations/{invitation_id}', { ...plans, invitation_id: 90_002 })
  await noah.request('PATCH /user/repository_invitations/{invitation_id}', { invitation_id: 90_003 })
  expect((await noah.request('GET /repos/{owner}/{repo}', plans)).data.permissions).toMatchObject({ pull: true, push: false })
  await olivia.request('DELETE /repos/{owner}/{repo}/collaborators/{username}', { ...plans, username: 'noah' })
}

const exerciseConversion = async (site: Site): Promise<void> => {
  const [olivia, dave] = [person(site, 'olivia'), person(site, 'dave')]
  const shop = { owner: 'acme', repo: 'shop' }
  await olivia.request('PUT /orgs/{org}/outside_collaborators/{username}', { ...acme, username: 'dave' })
  expect((await dave.request('GET /repos/{owner}/{repo}', shop)).data.permissions?.push).toBe(true)
  expect((await dave.request('GET /user/orgs')).data).toEqual([])
  await olivia.request('PUT /orgs/{org}/memberships/{username}', { ...acme, username: 'dave' })
  await dave.request('PATCH /user/memberships/orgs/{org}', { ...acme, state: 'active' })
  const team = { ...acme, team_slug: 'developers', username: 'dave' }
  await olivia.request('PUT /orgs/{org}/teams/{team_slug}/memberships/{username}', team)
}

/** Calls each route of this area; leaves the people where they were. */
export const exercisePeople = async (site: Site): Promise<void> => {
  await exerciseMembers(site)
  await exerciseTeams(site)
  await exerciseCollaborators(site)
  await exerciseInvitations(site)
  await exerciseConversion(site)
}

/** Ends an organization; nothing of it is left. */
export const exerciseOrganizationEnd = async (site: Site): Promise<void> => {
  const gary = person(site, 'gary')
  expect((await gary.request('DELETE /orgs/{org}', { org: 'globex' })).status).toBe(202)
  expect(site.emulator.context.world.repositories.some(one => one.ownerId === 2002)).toBe(false)
}
