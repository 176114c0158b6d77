// Requests to GitHub's git server with a token that GitHub may not know yet, against a scripted GitHub.
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { type ScriptedAnswer, scriptedGitHub } from '../../../github/testing/scripted-github.ts'
import { type Clock, systemClock } from '../../../lib/clock.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import { createGitServer, type GitRequest } from './git-server.ts'

const impatient: Clock = { ...systemClock, sleep: () => Promise.resolve() }
const answers = 'application/x-git-upload-pack-advertisement'
const advertised: ScriptedAnswer = { status: 200, text: '000eversion 2\n0000', headers: { 'content-type': answers } }

async function served(refusals: number, status = 403) {
  const github = await scriptedGitHub((_asked, index) => (index < refusals ? { status } : advertised))
  const server = createGitServer(impatient)
  onTestFinished(async () => {
    await server.close()
    await github[Symbol.asyncDispose]()
  })
  const ask = (change: Partial<GitRequest> = {}) =>
    server.request(
      {
        ...{ web: github.url, fullName: 'acme/shop', path: '/info/refs?service=git-upload-pack', method: 'GET', answers },
        ...{ token: new SecretString('ghs_new'), mintedAt: new Date(), headers: {}, ...change },
      },
      AbortSignal.timeout(60_000),
    )
  return { github, ask }
}

test.each([401, 403])('a new token that GitHub refuses with %i at first is sent again', async status => {
  const { github, ask } = await served(2, status)
  expect(await text(await ask())).toContain('version 2')
  expect(github.asked).toHaveLength(3)
})

test('the refusal of an older token, a missing repository, and a refusal that stays are final', async () => {
  const old = await served(1)
  await expect(old.ask({ mintedAt: new Date(Date.now() - 10_000) })).rejects.toMatchObject({ code: 'forbidden' })
  expect(old.github.asked).toHaveLength(1)
  const missing = await served(1, 404)
  await expect(missing.ask()).rejects.toMatchObject({ code: 'forbidden' })
  expect(missing.github.asked).toHaveLength(1)
  const refused = await served(9)
  await expect(refused.ask()).rejects.toMatchObject({ code: 'forbidden' })
  expect(refused.github.asked).toHaveLength(4)
})

test('a request with a body, which can be read only once, is sent only once', async () => {
  const { github, ask } = await served(1)
  const body = (async function* () {
    yield Buffer.from('0000')
  })()
  await expect(ask({ method: 'POST', path: '/git-upload-pack', body })).rejects.toMatchObject({ code: 'forbidden' })
  expect(github.asked).toHaveLength(1)
})
