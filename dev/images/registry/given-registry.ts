// The registry of a cluster that the user gave (KUBECONFIG): its settings, and who we are there. Credentials come from a Docker
// configuration file; with authentication by our token server they are signed as those for the local registry. Sources:
// https://distribution.github.io/distribution/spec/auth/token/,
// https://github.com/docker/cli/blob/master/docs/reference/commandline/login.md
import { request } from 'undici'
import { choiceSetting, optional, secretSetting, textSetting } from '../../../src/lib/config.ts'
import { AppError, messageOf } from '../../../src/lib/errors.ts'
import type { PushTokens } from './push-token.ts'
import type { Authorize } from './registry-client.ts'

export const givenRegistrySettings = {
  registry: optional(
    textSetting(
      'SEKISHO_UP_REGISTRY',
      'the registry and path below which the images of the platform (sekisho, cnb) and of tenants (apps) go, such as registry.example.com/team; this machine, the nodes and builds must reach it',
    ),
  ),
  registryAuthentication: optional(
    choiceSetting(
      'SEKISHO_UP_REGISTRY_AUTHENTICATION',
      'who issues credentials for the images of tenants (section 8 of the guide)',
      ['token-server', 'secret', 'none'],
    ),
  ),
  platformRegistry: optional(
    textSetting(
      'SEKISHO_UP_PLATFORM_REGISTRY',
      'the registry and path of the image of the platform itself; by default SEKISHO_UP_REGISTRY. With token-server it must be another one, because the platform issues the tokens of that registry and does not run before its own image is pulled',
    ),
  ),
  registryCredentials: optional(
    secretSetting(
      'SEKISHO_UP_REGISTRY_CREDENTIALS',
      'a Docker configuration with the account that pushes the images of the platform; name the file that docker login or podman login --authfile wrote',
    ),
  ),
}

export type GivenRegistry = {
  readonly host: string
  /** Ends with a slash, or is empty. */
  readonly prefix: string
  readonly scheme: 'http' | 'https'
}

/** Throws an Error that continues a sentence which begins with the name of the setting. */
export function parseGivenRegistry(text: string): GivenRegistry {
  const found = /^([a-z0-9.-]+(?::\d{1,5})?)((?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*)$/.exec(text)
  const [, host = '', path = ''] = found ?? []
  if (found === null || !/[.:]|^localhost$/.test(host))
    throw new AppError('invalid_configuration', 'must be host[:port][/path] without a scheme, such as registry.example.com/team')
  return { host, prefix: path === '' ? '' : `${path.slice(1)}/`, scheme: isPlain(host) ? 'http' : 'https' }
}

/** As kpack decides it: https://github.com/google/go-containerregistry/blob/main/pkg/name/registry.go (Scheme). */
function isPlain(host: string): boolean {
  return /^(localhost(:|$)|127\.|10\.\d|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)|\.local(host)?(:\d+)?$/.test(host)
}

/** The account of a registry in a Docker configuration file, as the value of a header; undefined when it has none. */
export function basicOf(configuration: string | undefined, host: string): string | undefined {
  if (configuration === undefined) return undefined
  let auths: Readonly<Record<string, { readonly auth?: unknown }>>
  try {
    auths = (JSON.parse(configuration) as { readonly auths?: typeof auths }).auths ?? {}
  } catch {
    throw new AppError('invalid_configuration', 'SEKISHO_UP_REGISTRY_CREDENTIALS is not JSON as docker login writes it')
  }
  const { auth } = auths[host] ?? auths[`https://${host}`] ?? {}
  return typeof auth === 'string' && auth !== '' ? `Basic ${auth}` : undefined
}

export type Challenge =
  | { readonly kind: 'none' }
  | { readonly kind: 'basic' }
  | { readonly kind: 'bearer'; readonly realm: string; readonly service: string | undefined }

/** What the registry asks clients without a credential for. Rejects with `unavailable` when it does not answer as a registry. */
export async function challengeOf(registry: GivenRegistry): Promise<Challenge> {
  const { status, header } = await ask(registry, undefined)
  if (status === 200) return { kind: 'none' }
  if (status !== 401)
    throw new AppError('unavailable', `${registry.host} answered ${status} to GET /v2/, which is not the answer of a registry`)
  if (/^basic\b/i.test(header)) return { kind: 'basic' }
  const parameter = (name: string): string | undefined => new RegExp(`\\b${name}="([^"]*)"`).exec(header)?.[1]
  const realm = parameter('realm')
  if (!/^bearer\b/i.test(header) || realm === undefined)
    throw new AppError('unavailable', `${registry.host} asks for a credential in an unknown way`)
  return { kind: 'bearer', realm, service: parameter('service') }
}

/** Whether the registry accepts this credential. */
export async function isAccepted(registry: GivenRegistry, authorize: Authorize): Promise<boolean> {
  const name = `${registry.prefix}sekisho/sekisho`
  const credential = await authorize([{ name, actions: ['pull', 'push'] }])
  return credential !== undefined && (await ask(registry, credential)).status === 200
}

async function ask({ scheme, host }: GivenRegistry, credential: string | undefined) {
  const answer = await request(`${scheme}://${host}/v2/`, {
    headers: credential === undefined ? {} : { authorization: credential },
    headersTimeout: 5000,
    bodyTimeout: 5000,
  }).catch((cause: unknown) => {
    throw new AppError('unavailable', `${scheme}://${host} does not answer: ${messageOf(cause)}`, { cause })
  })
  await answer.body.dump()
  return { status: answer.statusCode, header: String(answer.headers['www-authenticate'] ?? '') }
}

type Account = { readonly basic: string | undefined; readonly tokens: PushTokens | undefined }

/** `tokens` is given when the registry believes our own authority. */
export function authorizeAt(registry: GivenRegistry, { basic, tokens }: Account): Authorize {
  let asked: Promise<Challenge> | undefined
  return async access => {
    asked ??= challengeOf(registry)
    const challenge = await asked
    if (challenge.kind === 'none') return undefined
    if (challenge.kind === 'basic') return basic
    if (tokens !== undefined) return `Bearer ${await tokens(access)}`
    return basic === undefined ? undefined : `Bearer ${await tokenFrom(challenge, registry, basic, access)}`
  }
}

async function tokenFrom(
  challenge: Extract<Challenge, { readonly kind: 'bearer' }>,
  registry: GivenRegistry,
  basic: string,
  access: Parameters<Authorize>[0],
): Promise<string> {
  const url = new URL(challenge.realm)
  if (url.protocol !== 'https:' && registry.scheme === 'https')
    throw new AppError('forbidden', `${registry.host} asks to send the password without TLS to ${url.origin}`)
  if (challenge.service !== undefined) url.searchParams.set('service', challenge.service)
  for (const { name, actions } of access) url.searchParams.append('scope', `repository:${name}:${actions.join(',')}`)
  const answer = await request(url, { headers: { authorization: basic }, headersTimeout: 10_000, bodyTimeout: 10_000 })
  if (answer.statusCode !== 200) {
    await answer.body.dump()
    throw new AppError(
      'forbidden',
      `${url.origin} refused the account of SEKISHO_UP_REGISTRY_CREDENTIALS with ${answer.statusCode}`,
    )
  }
  const { token, access_token: other } = (await answer.body.json()) as { readonly token?: string; readonly access_token?: string }
  const found = token ?? other
  if (found === undefined) throw new AppError('upstream_failed', `${url.origin} answered without a token`)
  return found
}
