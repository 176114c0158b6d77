// How many requests GitHub has counted against the App and its installations, from its own answer about limits; as the owner of
// the App asks.
import { sign } from 'node:crypto'
import { request } from 'undici'
import { readLocalGitHub } from '../../up/github.ts'
import { attackUserAgent } from '../world/http.ts'
import type { World } from '../world/world.ts'

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** An App JWT (RFC 7515, RS256), valid for five minutes. */
function appToken(appId: number, privateKey: string): string {
  const now = Math.floor(Date.now() / 1000)
  const text = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({ iss: String(appId), iat: now - 30, exp: now + 300 })}`
  return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
}

/**
 * The sum over the App and each of its installations; the asking itself counts, equally often each time. The watcher of answers
 * does not see these: GitHub gives the owner of the App its tokens.
 */
export async function githubCalls({ settings }: World): Promise<number> {
  const { api, appId, privateKey } = await readLocalGitHub(settings)
  const ask = async (method: 'GET' | 'POST', path: string, token: string) => {
    const headers = { authorization: `Bearer ${token}`, 'user-agent': attackUserAgent }
    const { statusCode, body } = await request(`${api}${path}`, { method, headers, signal: AbortSignal.timeout(20_000) })
    const text = await body.text()
    if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${text.slice(0, 200)}`)
    return JSON.parse(text)
  }
  const used = async (token: string): Promise<number> => (await ask('GET', '/rate_limit', token)).resources.core.used
  const app = appToken(appId, privateKey)
  const installations = (await ask('GET', '/app/installations', app)) as readonly { id: number }[]
  const tokens = await Promise.all(installations.map(({ id }) => ask('POST', `/app/installations/${id}/access_tokens`, app)))
  const each = await Promise.all([app, ...tokens.map(({ token }) => token as string)].map(used))
  return each.reduce((sum, number) => sum + number, 0)
}
