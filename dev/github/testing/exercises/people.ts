// Calls every route of organizations, teams and collaborators once with success and checks the result.
import { expect } from 'vitest'
import { type Participants, person } from './participants.ts'

const acme = { org: 'acme' }

async function exerciseTeams(participants: Participants): Promise<void> {
  const olivia = person(participants, 'olivia')
  const { data: parent } = await olivia.request('POST /orgs/{org}/teams', {
    ...acme,
    name: 'Everybody Else',
    privacy: 'closed',
    maintainers: ['mia'],
  })
  expect(parent.slug).toBe('everybody-else')
  await olivia.request('POST /orgs/{org}/teams', { ...acme, name: 'Child', parent_team_id: parent.id })
  const given = { ...acme, team_slug: parent.slug, owner: 'acme', repo: 'secret-plans' }
  await olivia.request('PUT /orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}', { ...given, permission: 'push' })
  expect(participants.emulator.context.state.teams.find(one => one.id === parent.id)?.repositories).toEqual([
    { repositoryId: 4002, role: 'write' },
  ])
  const renamed = { ...acme, team_slug: parent.slug, name: 'Others', description: 'The rest' }
  expect((await olivia.request('PATCH /orgs/{org}/teams/{team_slug}', renamed)).data.slug).toBe('others')
  const taken = { ...given, team_slug: 'others' }
  await olivia.request('DELETE /orgs/{org}/teams/{team_slug}/repos/{owner}/{repo}', taken)
  await olivia.request('DELETE /orgs/{org}/teams/{team_slug}', { ...acme, team_slug: 'others' })
  expect((await olivia.request('GET /orgs/{org}/teams', acme)).data.map(one => one.slug)).toEqual(['developers'])
}

async function exerciseCollaborators(participants: Participants): Promise<void> {
  const [olivia, noah] = [person(participants, 'olivia'), person(participants, 'noah')]
  const plans = { owner: 'acme', repo: 'secret-plans' }
  const asked = { ...plans, username: 'noah', permission: 'triage' }
  await olivia.request('PUT /repos/{owner}/{repo}/collaborators/{username}', asked)
  const { data: outside } = await olivia.request('GET /repos/{owner}/{repo}/collaborators', { ...plans, affiliation: 'outside' })
  expect(outside.map(one => [one.login, one.role_name])).toEqual([['noah', 'triage']])
  expect((await noah.request('GET /repos/{owner}/{repo}', plans)).data.permissions).toMatchObject({ pull: true, push: false })
  await olivia.request('DELETE /repos/{owner}/{repo}/collaborators/{username}', asked)
  await olivia.request('PUT /repos/{owner}/{repo}/collaborators/{username}', { ...asked, username: 'mia' })
  await olivia.request('DELETE /repos/{owner}/{repo}/collaborators/{username}', { ...asked, username: 'mia' })
  expect((await olivia.request('GET /repos/{owner}/{repo}/collaborators', { ...plans, affiliation: 'direct' })).data).toEqual([])
}

/** Calls each route of this area; afterwards teams and memberships are as before. */
export async function exercisePeople(participants: Participants): Promise<void> {
  await exerciseTeams(participants)
  await exerciseCollaborators(participants)
}
