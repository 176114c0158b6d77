// Speaks to a registry as Docker's clients do: asks, reads the challenge, gets a token for the scope from the token server, and
// asks again with it. From this host or from the pod of globex, with or without a credential.
// Source: https://distribution.github.io/distribution/spec/auth/token/
import { defined } from '../../../src/lib/json/defined.ts'
import type { HttpAnswer } from '../world/http.ts'
import type { World } from '../world/world.ts'

export type RegistryRequest = {
  readonly method?: string
  /** Below `/v2/`. */
  readonly path: string
  /** What a client asks of the token server, such as `repository:acme/shop:pull`. */
  readonly scope?: string
  readonly contentType?: string
  readonly body?: string
}

/** `user:password`; undefined for a client without a credential. */
export type Basic = string | undefined

export type Sender = (
  url: string,
  options: { readonly method: string; readonly headers: Readonly<Record<string, string>>; readonly body?: string },
) => Promise<HttpAnswer>

export const fromHost =
  (world: World): Sender =>
  (url, options) =>
    world.http.send(url, options)

/** A pod that reaches nothing gets no answer: then this throws SilentRegistry. */
export class SilentRegistry extends Error {
  override readonly name = 'SilentRegistry'
}

export const fromPod =
  (world: World): Sender =>
  async (url, options) => {
    const result = await world.probe({ kind: 'http', url, ...options })
    if (result.kind === 'answered') return result
    throw new SilentRegistry(`${url}: ${JSON.stringify(result)}`)
  }

export type TokenAnswer = { readonly realm: string | undefined; readonly answer: HttpAnswer; readonly token: string | undefined }

const authorization = (basic: Basic): Record<string, string> =>
  basic === undefined ? {} : { authorization: `Basic ${Buffer.from(basic).toString('base64')}` }

/** The token server's address, as the registry names it; undefined when the registry does not ask for a token. */
export async function challenge(send: Sender, registry: string): Promise<{ realm: string; service: string } | undefined> {
  const first = await send(`http://${registry}/v2/`, { method: 'GET', headers: {} })
  const header = first.headers?.['www-authenticate'] ?? ''
  const realm = /realm="([^"]+)"/.exec(header)?.[1]
  return realm === undefined ? undefined : { realm, service: /service="([^"]+)"/.exec(header)?.[1] ?? '' }
}

/** Asks the token server for a scope. */
export async function askToken(send: Sender, registry: string, scope: string, basic: Basic): Promise<TokenAnswer> {
  const server = await challenge(send, registry)
  if (server === undefined)
    return { realm: undefined, answer: { status: 0, text: 'the registry asks for no token' }, token: undefined }
  const url = `${server.realm}?service=${encodeURIComponent(server.service)}&scope=${encodeURIComponent(scope)}`
  const answer = await send(url, { method: 'GET', headers: authorization(basic) })
  return { realm: server.realm, answer, token: tokenIn(answer) }
}

function tokenIn({ status, text }: HttpAnswer): string | undefined {
  if (status !== 200) return undefined
  try {
    const { token, access_token } = JSON.parse(text) as { token?: string; access_token?: string }
    return token ?? access_token
  } catch {
    return undefined
  }
}

/**
 * The answer to the request, with a token when the registry demands one and the token server issues one to this credential.
 * What the token server issues without a credential is tried elsewhere.
 */
export async function askRegistry(send: Sender, registry: string, planned: RegistryRequest, basic: Basic): Promise<HttpAnswer> {
  const ask = (url: string, headers: Record<string, string>): Promise<HttpAnswer> =>
    send(url, {
      method: planned.method ?? 'GET',
      headers: {
        accept: '*/*',
        ...defined({ 'content-type': planned.contentType }),
        ...headers,
      },
      ...defined({ body: planned.body }),
    })
  const url = `http://${registry}/v2/${planned.path}`
  const first = await followed(await ask(url, {}), url, next => ask(next, {}))
  if (first.status !== 401 || planned.scope === undefined || basic === undefined) return first
  const { answer, token } = await askToken(send, registry, planned.scope, basic)
  if (token === undefined) return answer
  const headers = { authorization: `Bearer ${token}` }
  return followed(await ask(url, headers), url, next => ask(next, headers))
}

/** The registry redirects a malformed path to the path that it means. */
async function followed(answer: HttpAnswer, url: string, ask: (url: string) => Promise<HttpAnswer>): Promise<HttpAnswer> {
  const location = answer.headers?.['location']
  return answer.status === 301 && location !== undefined ? ask(new URL(location, url).href) : answer
}

export type Access = { readonly type: string; readonly name: string; readonly actions: readonly string[] }

/** What a token of the token server opens. */
export function accessOf(token: string): readonly Access[] {
  const [, payload = ''] = token.split('.')
  const { access } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { access?: readonly Access[] }
  return access ?? []
}
