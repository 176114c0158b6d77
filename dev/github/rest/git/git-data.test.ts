// Refs, contents and archives: what is refused, what follows from a change, and what a caller without the permission gets.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningEmulator, startEmulator } from '../../emulator.ts'
import { install, signIn } from '../../testing/people.ts'
import { createRestClients, type RestClient, type RestClients, refusal } from '../../testing/rest-client.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../testing/webhook-receiver.ts'

const shop = { owner: 'acme', repo: 'shop' }
const base64 = (text: string): string => Buffer.from(text).toString('base64')
let emulator: RunningEmulator
let receiver: WebhookReceiver
let clients: RestClients
let app: RestClient
let reader: RestClient
let main: string
let clock = Date.now()

beforeAll(async () => {
  receiver = await startWebhookReceiver()
  emulator = await startEmulator({
    app: { webhookUrl: receiver.url, setupUrl: 'http://127.0.0.1:9/setup' },
    now: () => clock,
  })
  clients = createRestClients(emulator)
  const browser = await signIn(emulator, 'olivia')
  browser.stops.push('http://127.0.0.1:9/')
  const end = await install(emulator, browser, 2001, { repositoryIds: 'all' })
  const id = Number(new URL(end.url).searchParams.get('installation_id'))
  app = clients.by(await clients.mint(id))
  reader = clients.by(await clients.mint(id, { permissions: { contents: 'read' } }))
  main = (await app.request('GET /repos/{owner}/{repo}/git/ref/{ref}', { ...shop, ref: 'heads/main' })).data.object.sha
})
afterAll(async () => {
  await emulator.stop()
  await receiver.close()
})

const put = (path: string, more: Record<string, unknown> = {}, client = app) =>
  client.request('PUT /repos/{owner}/{repo}/contents/{path}', { ...shop, path, message: 'M', content: base64('x\n'), ...more })
const pushed = (ref: string) => receiver.waitFor(one => one.event === 'push' && one.payload['ref'] === ref)

describe('refs', () => {
  const create = (ref: string, sha = main) => app.request('POST /repos/{owner}/{repo}/git/refs', { ...shop, ref, sha })

  test('a ref made, moved and removed is a push each time', async () => {
    await create('refs/heads/life')
    expect((await pushed('refs/heads/life')).payload).toMatchObject({ created: true, after: main })
    await put('life', { branch: 'life' })
    const life = { ...shop, ref: 'heads/life' }
    const back = { ...life, sha: main }
    expect(await refusal(app.request('PATCH /repos/{owner}/{repo}/git/refs/{ref}', back))).toEqual({
      status: 422,
      message: 'Update is not a fast forward',
    })
    await app.request('PATCH /repos/{owner}/{repo}/git/refs/{ref}', { ...back, force: true })
    await receiver.waitFor(one => one.event === 'push' && one.payload['forced'] === true)
    await app.request('DELETE /repos/{owner}/{repo}/git/refs/{ref}', life)
    await receiver.waitFor(one => one.event === 'push' && one.payload['deleted'] === true)
    expect((await refusal(app.request('DELETE /repos/{owner}/{repo}/git/refs/{ref}', life))).status).toBe(422)
  })

  test.each(['main', 'refs/heads', 'refs/heads/', 'refs/pull/1/head', 'refs/heads/a..b', 'refs/heads/-x/../y', 'refs/notes/x'])(
    '%s cannot be made',
    async ref => expect((await refusal(create(ref))).status).toBe(422),
  )

  test('a ref needs a commit that exists, and a free name', async () => {
    expect((await refusal(create('refs/heads/none', 'f'.repeat(40)))).message).toBe('Object does not exist')
    const { data } = await app.request('GET /repos/{owner}/{repo}/git/commits/{commit_sha}', { ...shop, commit_sha: main })
    expect((await refusal(create('refs/heads/tree', data.tree.sha))).status).toBe(422)
    expect((await refusal(create('refs/heads/main'))).message).toBe('Reference already exists')
  })

  test('the default branch stays', async () => {
    const ref = { ...shop, ref: 'heads/main' }
    expect((await refusal(app.request('DELETE /repos/{owner}/{repo}/git/refs/{ref}', ref))).status).toBe(422)
  })
})

describe('contents', () => {
  test('a file is only replaced or removed by who knows what is there', async () => {
    const { data } = await put('seen')
    expect((await refusal(put('seen'))).message).toContain("wasn't supplied")
    expect((await refusal(put('seen', { sha: 'f'.repeat(40) }))).status).toBe(409)
    const gone = { ...shop, path: 'seen', message: 'M', sha: 'f'.repeat(40) }
    expect((await refusal(app.request('DELETE /repos/{owner}/{repo}/contents/{path}', gone))).status).toBe(409)
    await put('seen', { sha: data.content?.sha, content: base64('y') })
  })

  test('of two who write at once one is told so, and nothing is lost', async () => {
    const results = await Promise.allSettled(['left', 'right', 'third'].map(path => put(path, { branch: 'main' })))
    const written = results.filter(one => one.status === 'fulfilled').length
    expect(written).toBeGreaterThan(0)
    const { data } = await app.request('GET /repos/{owner}/{repo}/contents/{path}', { ...shop, path: '' })
    const names = Array.isArray(data) ? data.map(one => one.name) : []
    expect(['left', 'right', 'third'].filter(one => names.includes(one))).toHaveLength(written)
  })

  test.each(['../x', 'a/../../x', '.git/hooks/x', 'a//b', ''])('the path "%s" cannot be written', async path => {
    const response = await fetch(`${emulator.apiUrl}/repos/acme/shop/contents/${encodeURIComponent(path)}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${emulator.personalTokens['olivia']}` },
      body: JSON.stringify({ message: 'M', content: '' }),
    })
    expect([404, 422]).toContain(response.status)
  })

  test('a folder is no file, a branch that does not exist is not made, text is no Base64', async () => {
    await put('folder/file')
    expect((await refusal(put('folder'))).status).toBe(422)
    expect((await refusal(put('x', { branch: 'none' }))).status).toBe(404)
    expect((await refusal(put('x', { content: '!!!' }))).status).toBe(422)
  })

  test('the first file of an empty repository makes its first commit', async () => {
    const olivia = clients.by(emulator.personalTokens['olivia'] ?? '')
    await olivia.request('POST /user/repos', { name: 'empty' })
    const first = { owner: 'olivia', repo: 'empty', path: 'a', message: 'First', content: base64('a') }
    await olivia.request('PUT /repos/{owner}/{repo}/contents/{path}', first)
    const { data } = await olivia.request('GET /repos/{owner}/{repo}/commits', { owner: 'olivia', repo: 'empty' })
    expect(data.map(one => one.parents.length)).toEqual([0])
  })

  test('a token that may only read writes nothing and moves nothing', async () => {
    expect((await refusal(put('x', {}, reader))).status).toBe(403)
    const ref = { ...shop, ref: 'refs/heads/x', sha: main }
    expect((await refusal(reader.request('POST /repos/{owner}/{repo}/git/refs', ref))).status).toBe(403)
    expect((await reader.request('GET /repos/{owner}/{repo}/readme', shop)).status).toBe(200)
  })
})

describe('archives', () => {
  const location = async (): Promise<string> => {
    const response = await fetch(`${emulator.apiUrl}/repos/acme/shop/tarball/main`, {
      redirect: 'manual',
      headers: { authorization: `Bearer ${emulator.personalTokens['dave']}` },
    })
    expect(response.status).toBe(302)
    return response.headers.get('location') ?? ''
  }

  test('the redirect opens without credentials for five minutes, and for this repository only', async () => {
    const url = await location()
    const answer = await fetch(url)
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename=acme-shop-[0-9a-f]{7}\.tar\.gz$/)
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(100)
    expect((await fetch(url.replace(/token=.*/, 'token=guess'))).status).toBe(404)
    clock += 300_000
    expect((await fetch(url)).status).toBe(404)
  })

  test('who cannot see the repository gets no redirect', async () => {
    const gary = clients.by(emulator.personalTokens['gary'] ?? '')
    expect((await refusal(gary.request('GET /repos/{owner}/{repo}/tarball/{ref}', { ...shop, ref: 'main' }))).status).toBe(404)
    const none = reader.request('GET /repos/{owner}/{repo}/zipball/{ref}', { ...shop, ref: 'none' })
    expect((await refusal(none)).status).toBe(404)
  })
})

describe('comparison', () => {
  test('of what does not exist or has two ranges is 404', async () => {
    for (const basehead of ['main...none', 'main', 'main...main...main', 'noah:main...main'])
      expect((await refusal(app.request('GET /repos/{owner}/{repo}/compare/{basehead}', { ...shop, basehead }))).status).toBe(404)
  })
})
