// Lists and single answers about installations, with a client that returns what GitHub would.
import { describe, expect, test } from 'vitest'
import { endpointsOf, type InstallationFacts, type InstallationPage } from '../../github/index.ts'
import { AppError } from '../../lib/errors.ts'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import type { GitHubApp } from '../../services/token-desk/app-clients.ts'
import { createInstallationDirectory, listMilliseconds } from './installation-directory.ts'

const facts = (id: number, login = `org${id}`): InstallationFacts => ({
  id,
  appId: 5,
  account: { id, login, type: 'Organization' },
  suspendedAt: undefined,
  repositorySelection: 'all',
  permissions: {},
})

function environment() {
  const clock = createFakeClock()
  const github = {
    pages: [[facts(1), facts(2)]] as InstallationFacts[][],
    failure: undefined as unknown,
    requests: [] as string[],
  }
  const answer = <T>(request: string, value: T): T => {
    github.requests.push(request)
    if (github.failure !== undefined) throw github.failure
    return value
  }
  const client = {
    async installationPage(page: number, known?: InstallationPage): Promise<InstallationPage> {
      const installations = answer(`page ${page}${known === undefined ? '' : ' again'}`, github.pages[page - 1] ?? [])
      return { etag: 'x', installations, hasNext: page < github.pages.length }
    },
    installation: async (id: number) =>
      answer(
        `one ${id}`,
        github.pages.flat().find(item => item.id === id),
      ),
  } as unknown as GitHubApp['client']
  const app: GitHubApp = { client, endpoints: endpointsOf({ host: 'github.com' }), appId: 5 }
  return { clock, github, app, directory: createInstallationDirectory({ clock }) }
}

describe('the list', () => {
  test('answers for all, is shared, and is repeated when it is old', async () => {
    const { directory, app, github, clock } = environment()
    const found = await Promise.all([1, 2, 3].map(id => directory.look(app, id)))
    expect(found.map(item => item?.id)).toEqual([1, 2, undefined])
    expect(github.requests).toEqual(['page 1'])
    await clock.advance(listMilliseconds(1))
    github.pages = [[facts(1, 'renamed')], [facts(3)]]
    expect((await directory.look(app, 1))?.account.login).toBe('renamed')
    expect((await directory.look(app, 2))?.id).toBeUndefined()
    expect((await directory.look(app, 3))?.id).toBe(3)
    expect(github.requests).toEqual(['page 1', 'page 1 again', 'page 2'])
  })

  test('is requested less often the longer it is', () => {
    expect([1, 6, 100].map(listMilliseconds)).toEqual([60_000, 60_000, 900_000])
  })

  test('does not overrule a younger answer about one installation', async () => {
    const { directory, app, github, clock } = environment()
    await directory.look(app, 1)
    await clock.advance(1000)
    github.pages = [[facts(2, 'renamed')]]
    expect(await directory.ask(app, 1)).toBeUndefined()
    expect((await directory.ask(app, 2))?.account.login).toBe('renamed')
    expect(await directory.look(app, 1)).toBeUndefined()
    expect((await directory.look(app, 2))?.account.login).toBe('renamed')
    expect(github.requests).toEqual(['page 1', 'one 1', 'one 2'])
  })

  test('finds the installation on an account by its number and type', async () => {
    const { directory, app, github } = environment()
    const on = (id: number, type: 'Organization' | 'User' = 'Organization') => directory.onAccount(app, { id, type })
    expect([(await on(2))?.id, await on(2, 'User'), await on(3)]).toEqual([2, undefined, undefined])
    await directory.ask(app, 1)
    github.pages = [[]]
    expect(await directory.ask(app, 2)).toBeUndefined()
    expect([(await on(1))?.id, await on(2)]).toEqual([1, undefined])
    expect(github.requests.filter(request => request.startsWith('page'))).toEqual(['page 1'])
  })

  test('is made again by another client of the App', async () => {
    const { directory, app, github } = environment()
    await directory.look(app, 1)
    await directory.look({ ...app, client: { ...app.client } }, 1)
    expect(github.requests).toEqual(['page 1', 'page 1'])
  })
})

describe('while GitHub fails', () => {
  const down = new AppError('unavailable', 'down')

  test('a list of the last hour answers, and the list is repeated with growing waits', async () => {
    const { directory, app, github, clock } = environment()
    await directory.look(app, 1)
    github.failure = down
    let counted = 0
    for (let minute = 0; minute < 59; minute++) {
      await clock.advance(60_000)
      expect((await directory.look(app, 1))?.id).toBe(1)
      counted = github.requests.length
    }
    // After 1, 2, 4, 8, 16 and 32 minutes.
    expect(counted).toBeLessThanOrEqual(8)
    await clock.advance(120_000)
    await expect(directory.look(app, 1)).rejects.toBe(down)
    await expect(directory.look(app, 9)).rejects.toBe(down)
  })

  test('a refused key is never covered by an earlier list', async () => {
    const { directory, app, github, clock } = environment()
    await directory.look(app, 1)
    github.failure = new AppError('upstream_failed', 'refused', { reason: 'CredentialRefused' })
    await clock.advance(60_000)
    await expect(directory.look(app, 1)).rejects.toMatchObject({ reason: 'CredentialRefused' })
  })
})
