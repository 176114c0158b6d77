// The contract of all routes: each is in the list of REST routes, whose responses are checked against GitHub's description, or
// in an area of its own. Routes that are called here must work with real clients; rest/routes.test.ts requires that every REST
// route is called.
import { checkToken, exchangeWebFlowCode, refreshToken } from '@octokit/oauth-methods'
import { request } from '@octokit/request'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { RunningEmulator } from '../emulator.ts'
import { fastifyPath } from '../rest/register.ts'
import { restRoutes } from '../rest/routes.ts'
import { buildServer } from '../server/server.ts'
import { cloneUrl, createGitClient } from '../testing/git-client.ts'
import { obtainCode } from '../testing/oauth.ts'
import { signIn } from '../testing/people.ts'
import { startStockedEmulator } from '../testing/stocked-emulator.ts'
import { areaOf, areas } from './areas.ts'
import { descriptions, openDescription } from './description.ts'

/** git and the validation are slow on a busy machine. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let emulator: RunningEmulator
let server: FastifyInstance
let address: string
const registered = new Set<string>()
const succeeded = new Set<string>()

/** A second server over the same state that records its routes and which of them responded with success. */
beforeAll(async () => {
  emulator = await startStockedEmulator({ app: { callbackUrls: ['http://127.0.0.1:9/callback'] } })
  server = await buildServer(emulator.context, observed => {
    observed.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat()) if (one !== 'HEAD') registered.add(`${one} ${url}`)
    })
    observed.addHook('onResponse', async ({ method, routeOptions }, { statusCode }) => {
      if (statusCode < 400) succeeded.add(`${method} ${routeOptions.url}`)
    })
  })
  address = await server.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await server.close()
  await emulator.stop()
})

const restPrefix = '/api/v3'
function restPatterns(): string[] {
  return restRoutes.flatMap(route =>
    [route.path, ...(route.byId === undefined ? [] : [route.byId])].map(
      path => `${route.method} ${restPrefix}${fastifyPath(path, route.greedy)}`,
    ),
  )
}

describe('the list', () => {
  test('every registered route is in the list of REST routes or in an area, and every entry is registered', () => {
    const known = new Set(restPatterns())
    expect([...registered].filter(route => !known.has(route) && !areaOf(route))).toEqual([])
    expect([...known].filter(route => !registered.has(route))).toEqual([])
    const exact = areas.flatMap(area => area.routes.filter(route => !route.endsWith('*')))
    expect(exact.filter(route => !registered.has(route))).toEqual([])
    const prefixes = areas.flatMap(area => area.routes.filter(route => route.endsWith('*')))
    expect(prefixes.filter(prefix => ![...registered].some(route => route.startsWith(prefix.slice(0, -1))))).toEqual([])
  })

  test('an unlisted route has no area', () => {
    expect(['GET /surprise', 'PUT /login', 'POST /:owner', 'PATCH /_emulator/faults'].map(areaOf)).toEqual(
      Array.from({ length: 4 }, () => undefined),
    )
  })

  test('no route is declared twice', () => {
    const names = restRoutes.map(route => `${route.method} ${route.path}`)
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  })

  test.each(descriptions)('%s describes every REST route, with a success response', name => {
    const find = openDescription(name)
    const missing = restRoutes.filter(route => (find(route)?.successes.length ?? 0) === 0)
    expect(missing.map(route => `${route.method} ${route.path}`)).toEqual([])
  })
})

describe('routes that are called', () => {
  // The libraries call github.com unless the request has another URL.
  const oauthRequest = () => request.defaults({ baseUrl: `${address}/api/v3` })
  const client = () => ({
    clientType: 'github-app' as const,
    clientId: emulator.app.clientId,
    clientSecret: emulator.app.clientSecret,
    request: oauthRequest(),
  })

  test('OAuth: the web flow, refresh and check', async () => {
    const code = await obtainCode(emulator, await signIn(emulator, 'dave'))
    const { authentication } = await exchangeWebFlowCode({ ...client(), code })
    expect(authentication.token).toMatch(/^ghu_/)
    if (!('refreshToken' in authentication)) throw new Error('the token does not expire')
    const refreshed = await refreshToken({ ...client(), refreshToken: authentication.refreshToken })
    expect(Date.parse(refreshed.authentication.expiresAt) - Date.now()).toBeGreaterThan(7 * 3_600_000)
    const { token } = refreshed.authentication
    expect((await checkToken({ ...client(), token })).data.user?.login).toBe('dave')
  })

  test('git: clone and push, and the result is intact', async () => {
    const url = cloneUrl(address, 'acme/shop', emulator.personalTokens['dave'])
    const git = await createGitClient()
    expect(await git.run('clone', url, '.')).toMatchObject({ ok: true })
    await git.commit('one.txt', '1', 'One')
    expect(await git.run('push', 'origin', 'HEAD:one')).toMatchObject({ ok: true })
    expect(await git.run('fsck', '--full', '--strict')).toMatchObject({ ok: true })
    await git.remove()
  })

  test('each route of these areas responded with success', () => {
    const driven = areas.filter(area => area.called).flatMap(area => area.routes)
    expect(driven.filter(route => !succeeded.has(route))).toEqual([])
  })
})
