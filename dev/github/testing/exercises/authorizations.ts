// Owns: every route by which tokens and the selection of repositories are changed called once with success, and what each must say.
import { expect } from 'vitest'
import { exchange } from '../oauth.ts'
import { install, signIn } from '../people.ts'
import { person, type Site } from './site.ts'

const exerciseTokens = async (site: Site): Promise<void> => {
  const { clients, emulator } = site
  const { clientId, clientSecret } = emulator.app
  const browser = await signIn(emulator, 'olivia')
  browser.stops.push('http://127.0.0.1:9/')
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
  const asApp = { client_id: clientId, headers: { authorization } }
  const { access_token } = await exchange(emulator, browser)
  const { data: fresh } = await clients.anonymous.request('PATCH /applications/{client_id}/token', { ...asApp, access_token })
  const { data: narrow } = await clients.anonymous.request('POST /applications/{client_id}/token/scoped', {
    ...asApp,
    access_token: fresh.token,
    target: 'acme',
    repository_ids: [4001],
    permissions: { contents: 'read' },
  })
  expect(narrow.installation).toMatchObject({ repository_selection: 'selected', account: { login: 'acme' } })
  const { data: mine } = await clients.by(narrow.token).request('GET /user/repos')
  expect(mine.map(one => one.name)).toEqual(['shop'])
  if (emulator.context.settings.flavour === 'enterprise-server') return
  await clients.anonymous.request('POST /credentials/revoke', { credentials: [fresh.token, 'ghp_unknown'] })
  expect(emulator.context.world.credentials.accessTokens).not.toHaveProperty(fresh.token)
}

/** The selection of an installation on the person's own account, changed by REST. */
const exerciseSelection = async (site: Site): Promise<void> => {
  const { emulator } = site
  const noah = person(site, 'noah')
  const { data: first } = await noah.request('POST /user/repos', { name: 'first' })
  const { data: second } = await noah.request('POST /user/repos', { name: 'second' })
  const browser = await signIn(emulator, 'noah')
  browser.stops.push('http://127.0.0.1:9/')
  const end = await install(emulator, browser, 1005, { repositoryIds: [Number(first.id)] })
  const installation_id = Number(new URL(end.url).searchParams.get('installation_id'))
  const ids = (): readonly number[] =>
    emulator.context.world.installations.find(one => one.id === installation_id)?.repositoryIds ?? []
  const path = '/user/installations/{installation_id}/repositories/{repository_id}' as const
  await noah.request(`PUT ${path}`, { installation_id, repository_id: Number(second.id) })
  expect(ids()).toEqual([first.id, second.id])
  await noah.request(`DELETE ${path}`, { installation_id, repository_id: Number(first.id) })
  expect(ids()).toEqual([second.id])
}

/** Calls each route of this area. */
export const exerciseAuthorizations = async (site: Site): Promise<void> => {
  await exerciseTokens(site)
  await exerciseSelection(site)
}
