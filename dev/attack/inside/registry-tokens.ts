// The registry's token server: what it issues without a credential, to guessed credentials and to globex's own; and tokens that
// it did not sign.
import { randomBytes } from 'node:crypto'
import { tenantNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { judgeRegistry } from '../judge.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import type { World } from '../world/world.ts'
import { ownCredentials, ownPath, pathOfImage } from './registry.ts'
import { accessOf, askToken, type Basic, challenge, fromHost } from './registry-client.ts'

/** The names and actions to ask for that must never come back. */
function greedyScopes(world: World): readonly string[] {
  const { repository } = pathOfImage(world)
  const own = ownPath(world)
  return [
    `repository:${repository}:pull`,
    `repository:${repository}:pull,push,delete,*`,
    `repository:${repository.toUpperCase()}:pull`,
    `repository:${own}/../../${repository}:pull`,
    `repository:${own}/%2e%2e/%2e%2e/${repository}:pull`,
    `repository:/${repository}:pull`,
    `repository:${repository}/:pull`,
    `repository:${own}x/site:push`,
    `repository:${world.targets.imagePrefix}${tenantNamespace}:pull`,
    'repository:*:*',
    'repository:sekisho/sekisho:push',
    'repository:cnb/builder:push',
    'repository:cnb/run:push,delete',
    'registry:catalog:*',
    'registry:*:*',
    `repository(plugin):${repository}:pull`,
    `repository:${own}/site:pull repository:${repository}:pull`,
    `repository:${own}/site:pull\nrepository:${repository}:pull`,
    `repository:${own}/site:delete`,
    Array.from({ length: 500 }, (_, number) => `repository:${world.targets.imagePrefix}${tenantNamespace}/a${number}:pull`).join(
      ' ',
    ),
    ':::',
    `repository:${'a/'.repeat(2000)}:pull`,
  ]
}

/** A token may open what is below globex's path, and pull what builds start from. */
function judgeToken(own: string, { answer, token, realm }: Awaited<ReturnType<typeof askToken>>): Verdict {
  if (realm === undefined) return succeeded('the registry does not ask for a token')
  if ([400, 401, 403, 414, 429, 431].includes(answer.status)) return stopped('registry', `${answer.status} ${answer.text}`)
  if (token === undefined) return unclear(`${answer.status} ${answer.text}`)
  const wide = accessOf(token).filter(({ type, name, actions }) => {
    if (type !== 'repository') return actions.length > 0
    if (name.startsWith(`${own}/`) && !name.includes('..')) return false
    return actions.some(action => action !== 'pull' || !name.startsWith('cnb/'))
  })
  return wide.length > 0
    ? succeeded(`a token for ${JSON.stringify(wide)}`)
    : stopped('registry', `a token for ${JSON.stringify(accessOf(token))}`)
}

function forged(claims: object, header: object): string {
  return [header, claims].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
}

/** Bearer tokens that the token server did not sign. */
function forgedTokens(world: World): readonly (readonly [string, string])[] {
  const { repository } = pathOfImage(world)
  const now = Math.floor(Date.now() / 1000)
  const claims = {
    iss: 'sekisho',
    aud: 'registry.sekisho',
    sub: 'x',
    iat: now,
    nbf: now - 60,
    exp: now + 300,
    access: [{ type: 'repository', name: repository, actions: ['pull', 'push'] }],
  }
  return [
    ['without a signature', `${forged(claims, { alg: 'none', typ: 'JWT' })}.`],
    ['with an unknown key', `${forged(claims, { alg: 'ES256', typ: 'JWT', kid: 'x' })}.${randomBytes(64).toString('base64url')}`],
    ['with a symmetric signature', `${forged(claims, { alg: 'HS256', typ: 'JWT' })}.${randomBytes(32).toString('base64url')}`],
    [
      'with a certificate of its own',
      `${forged(claims, { alg: 'ES256', typ: 'JWT', x5c: [randomBytes(200).toString('base64')] })}.${randomBytes(64).toString('base64url')}`,
    ],
  ]
}

async function tokenServerAttempts(world: World): Promise<readonly Attempt[]> {
  const send = fromHost(world)
  const { registry } = world.targets
  const { repository } = pathOfImage(world)
  const own = await ownCredentials(world)
  const users: readonly (readonly [string, Basic])[] = [
    ...own.map(({ namespace, name, basic }) => [`${namespace}/${name}`, basic] as const),
    ['a guess', 'acme:acme'],
    ['an empty password', `${own[0]?.basic.split(':')[0] ?? 'acme'}:`],
    ['another name with the own password', `acme:${own[0]?.basic.split(':').slice(1).join(':') ?? 'x'}`],
    ['nobody', undefined],
  ]
  return [
    ...users.flatMap(([who, basic]) =>
      greedyScopes(world).map(
        (scope): Attempt => ({
          name: `${who}: scope ${JSON.stringify(scope).slice(0, 70)}`,
          run: async () => judgeToken(ownPath(world), await askToken(send, registry, scope, basic)),
        }),
      ),
    ),
    ...forgedTokens(world).map(
      ([what, token]): Attempt => ({
        name: `a token ${what}`,
        run: async () =>
          (await challenge(send, registry)) === undefined
            ? succeeded('the registry does not ask for a token')
            : judgeRegistry(
                await send(`http://${registry}/v2/${repository}/tags/list`, {
                  method: 'GET',
                  headers: { authorization: `Bearer ${token}` },
                }),
              ),
      }),
    ),
  ]
}

export const registryTokenAttacks: readonly Attack[] = [
  {
    name: 'registry/token-server',
    alone: true,
    as: 'a client without a credential, and holders of globex’s registry credentials',
    against: 'the registry’s token server',
    tries: 'Scopes of others in many spellings, guessed credentials, and tokens that it did not sign.',
    expected: ['registry'],
    attempts: tokenServerAttempts,
  },
]
