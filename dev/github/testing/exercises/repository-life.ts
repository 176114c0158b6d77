// Calls every route that changes, forks, moves or deletes a repository once with success and checks the result.
import { expect } from 'vitest'
import { type Participants, person } from './participants.ts'

/** Calls each route of this area, with its own repositories. */
export async function exerciseRepositoryLife(participants: Participants): Promise<void> {
  const [olivia, dave] = [person(participants, 'olivia'), person(participants, 'dave')]
  const { data: made } = await olivia.request('POST /orgs/{org}/repos', { org: 'acme', name: 'gadget', auto_init: true })
  const gadget = { owner: 'acme', repo: 'gadget' }
  const renamed = await olivia.request('PATCH /repos/{owner}/{repo}', { ...gadget, name: 'gizmo', description: 'Does things' })
  expect(renamed.data).toMatchObject({ id: made.id, full_name: 'acme/gizmo', description: 'Does things' })
  expect((await olivia.request('GET /repos/{owner}/{repo}', gadget)).data.full_name).toBe('acme/gizmo')
  expect((await olivia.request('PATCH /repos/{owner}/{repo}', { ...gadget, private: true })).data.private).toBe(true)
  await olivia.request('PATCH /repos/{owner}/{repo}', { ...gadget, visibility: 'public' })

  const gizmo = { owner: 'acme', repo: 'gizmo' }
  const { data: branch } = await olivia.request('POST /repos/{owner}/{repo}/branches/{branch}/rename', {
    ...gizmo,
    branch: 'main',
    new_name: 'trunk',
  })
  expect(branch.name).toBe('trunk')
  expect((await olivia.request('GET /repos/{owner}/{repo}', gizmo)).data.default_branch).toBe('trunk')
  const { data: fork } = await dave.request('POST /repos/{owner}/{repo}/forks', gizmo)
  expect(fork).toMatchObject({ full_name: 'dave/gizmo', fork: true, parent: { id: made.id }, source: { id: made.id } })

  const move = { ...gizmo, new_owner: 'olivia', new_name: 'mine' }
  expect((await olivia.request('POST /repos/{owner}/{repo}/transfer', move)).data.full_name).toBe('olivia/mine')
  expect((await olivia.request('GET /repos/{owner}/{repo}', gadget)).data.id).toBe(made.id)
  await olivia.request('DELETE /repos/{owner}/{repo}', { owner: 'olivia', repo: 'mine' })
  await dave.request('DELETE /repos/{owner}/{repo}', { owner: 'dave', repo: 'gizmo' })
}
