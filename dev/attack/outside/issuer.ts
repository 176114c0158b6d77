// The OIDC issuer, as an attacker who wants another person's ID token: malformed authorization requests, codes, device codes,
// refresh tokens.
import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commandLineLogin } from '../../demo/scenario/sign-in.ts'
import type { Attack, Attempt } from '../attack.ts'
import { judgeBroker } from '../judge.ts'
import { stopped, succeeded, unclear } from '../verdict.ts'
import type { HttpAnswer } from '../world/http.ts'
import type { World } from '../world/world.ts'
import { foreignHostBrowser } from './visitor.ts'

const form = { 'content-type': 'application/x-www-form-urlencoded' }

function post(world: World, path: string, fields: Readonly<Record<string, string>>): Promise<HttpAnswer> {
  return world.http.send(`${world.targets.issuer}${path}`, {
    method: 'POST',
    headers: form,
    body: new URLSearchParams(fields).toString(),
  })
}

const verifier = randomBytes(32).toString('base64url')
const request = {
  client_id: 'kubernetes',
  response_type: 'code',
  scope: 'openid offline_access',
  redirect_uri: 'http://127.0.0.1:9/callback',
  state: 'x',
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
}

/** What is wrong with an authorization request → the fields that make it so; an empty text takes a field away. */
const malformed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'without PKCE': { code_challenge: '', code_challenge_method: '' },
  'with plain PKCE': { code_challenge_method: 'plain' },
  'to another host': { redirect_uri: 'https://attacker.example/callback' },
  'to a host that looks like loopback': { redirect_uri: 'http://127.0.0.1.attacker.example/callback' },
  'to another path': { redirect_uri: 'http://127.0.0.1:9/callback/../other' },
  'of an unknown client': { client_id: 'attacker' },
  'of the platform’s registry': { client_id: 'sekisho' },
  'for a token in the fragment': { response_type: 'id_token token' },
  'with a request object at another address': { request_uri: 'https://attacker.example/request' },
}

/** gary is signed in, so that the request itself is judged; the browser stops at every host but the platform's. */
function authorization(world: World, what: string, change: Readonly<Record<string, string>>): Attempt {
  return {
    name: `a link with an authorization request ${what}`,
    async run() {
      const { origin } = new URL(world.targets.issuer)
      const browser = await foreignHostBrowser(world, 'gary', url => url.origin !== origin)
      const query = new URLSearchParams(Object.entries({ ...request, ...change }).filter(([, value]) => value !== ''))
      const page = await browser.open(`${world.targets.issuer}/oidc/authorize?${query}`)
      await browser.close()
      if (page.url.origin === origin) return judgeBroker({ status: page.status, text: page.html })
      // An error may be told to the client at its registered address, never elsewhere.
      const isError = /[?#&]error=/.test(page.url.href) && !/[?#&](code|id_token)=/.test(page.url.href)
      if (page.url.origin === new URL(request.redirect_uri).origin && isError) return stopped('broker', page.url.href)
      return succeeded(page.url.href.replace(/code=[^&]+/, 'code=…'))
    },
  }
}

function grants(world: World): readonly Attempt[] {
  const plans: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    [
      'a code that was never issued',
      {
        grant_type: 'authorization_code',
        client_id: 'kubernetes',
        code: 'x'.repeat(43),
        redirect_uri: request.redirect_uri,
        code_verifier: verifier,
      },
    ],
    [
      'a refresh token that was never issued',
      { grant_type: 'refresh_token', client_id: 'kubernetes', refresh_token: 'x'.repeat(43) },
    ],
    [
      'a device code that was never issued',
      { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', client_id: 'kubernetes', device_code: 'x'.repeat(43) },
    ],
    ['a password', { grant_type: 'password', client_id: 'kubernetes', username: 'olivia', password: 'olivia' }],
    ['its own client', { grant_type: 'client_credentials', client_id: 'kubernetes' }],
    [
      'another’s token',
      {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        client_id: 'kubernetes',
        subject_token: 'x',
        subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
      },
    ],
    ['an assertion', { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', client_id: 'kubernetes', assertion: 'x.y.z' }],
  ]
  return plans.map(([what, fields]) => ({
    name: `stranger: an ID token for ${what}`,
    run: async () => judgeBroker(await post(world, '/oidc/token', fields), [400, 401]),
  }))
}

function deviceAttempts(world: World): readonly Attempt[] {
  const begin = async () => {
    const answer = await post(world, '/oidc/device-authorization', { client_id: 'kubernetes', scope: 'openid' })
    return JSON.parse(answer.text) as { device_code: string; user_code: string }
  }
  const poll = (device_code: string) =>
    post(world, '/oidc/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id: 'kubernetes',
      device_code,
    })
  return [
    {
      name: 'stranger: a device code that was not approved',
      run: async () => judgeBroker(await poll((await begin()).device_code), [400]),
    },
    {
      name: 'stranger: a device code, asked for again and again',
      async run() {
        const { device_code } = await begin()
        const answers = await Promise.all(Array.from({ length: 5 }, () => poll(device_code)))
        const wrong = answers.find(({ status }) => status < 400)
        return wrong === undefined ? stopped('broker', answers.map(({ text }) => text).join(' ')) : succeeded(wrong.text)
      },
    },
    {
      name: 'stranger: the user code without signing in',
      async run() {
        const { user_code } = await begin()
        const answer = await world.http.send(`${world.targets.issuer}/device`, {
          method: 'POST',
          headers: form,
          body: new URLSearchParams({ user_code, confirm: 'yes', xsrf: 'x' }).toString(),
        })
        return judgeBroker(answer, [302, 303, 400, 401, 403])
      },
    },
  ]
}

/** mia's refresh token, as her command line keeps it after a new sign-in: the attack ends that sign-in. */
async function refreshTokenOf(world: World): Promise<string> {
  await commandLineLogin(world.demo, world.demo.people.mia)
  const folder = join(world.demo.people.mia.home, '.local/state/sekisho/tokens')
  for (const file of await readdir(folder)) {
    const { refreshToken } = JSON.parse(await readFile(join(folder, file), 'utf8')) as { refreshToken?: string }
    if (refreshToken !== undefined) return refreshToken
  }
  throw new Error('mia has no refresh token')
}

/**
 * A stolen refresh token, sent after its owner used it. It is good for as long as the owner's answer may have been lost, but
 * the next use by either of them ends the session for both; once the owner has used the successor, it ends it at once.
 */
function refreshReuse(world: World, ownerGoesOn: boolean): Attempt {
  const refresh = (token: string) =>
    post(world, '/oidc/token', { grant_type: 'refresh_token', client_id: 'kubernetes', refresh_token: token })
  const next = (text: string): string => (JSON.parse(text) as { refresh_token: string }).refresh_token
  return {
    name: `a thief uses a refresh token that mia used already${ownerGoesOn ? ', and whose successor she used, too' : ''}`,
    async run() {
      const stolen = await refreshTokenOf(world)
      const first = await refresh(stolen)
      const second = ownerGoesOn && first.status === 200 ? await refresh(next(first.text)) : first
      if (second.status !== 200) return unclear(`mia cannot refresh: ${second.status} ${second.text}`)
      const ofThief = await refresh(stolen)
      if (ownerGoesOn && ofThief.status === 200) return succeeded('200: new tokens for a refresh token whose successor was used')
      const ofOwner = await refresh(next(second.text))
      if (ofOwner.status === 200) return succeeded('the owner does not notice the thief')
      const later = ofThief.status === 200 ? await refresh(next(ofThief.text)) : ofThief
      if (later.status === 200) return succeeded('the thief goes on after the owner was refused')
      return stopped('broker', `${later.status}, and the whole family ended: ${ofOwner.status} ${ofOwner.text}`)
    },
  }
}

export const issuerAttacks: readonly Attack[] = [
  {
    name: 'issuer/requests',
    as: 'a client without a credential',
    against: 'people’s ID tokens, which the API server accepts',
    tries:
      'Authorization requests without PKCE, to other hosts, of other clients; tokens for codes, passwords and assertions that were never issued.',
    expected: ['broker', 'authentication'],
    attempts: world => [
      ...Object.entries(malformed).map(([what, change]) => authorization(world, what, change)),
      ...grants(world),
    ],
  },
  {
    name: 'issuer/device-codes',
    as: 'a client without a credential',
    against: 'people who sign in by a code',
    tries: 'Polls codes that were not approved, approves without signing in.',
    expected: ['broker', 'authentication'],
    attempts: deviceAttempts,
  },
  {
    name: 'issuer/refresh-reuse',
    alone: true,
    as: 'a thief of mia’s refresh token',
    against: 'mia’s session',
    tries: 'Uses a refresh token a second time, after she used its successor.',
    expected: ['broker'],
    attempts: world => [refreshReuse(world, true)],
  },
  {
    name: 'issuer/refresh-replay',
    alone: true,
    as: 'a thief of mia’s refresh token',
    against: 'mia’s session',
    tries: 'Uses a refresh token a second time, as if the first answer had been lost, and goes on with what it gives.',
    expected: ['broker'],
    attempts: world => [refreshReuse(world, false)],
  },
]
