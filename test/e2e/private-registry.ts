// A registry that gives an image to whoever has its password, as those of other providers do: it stands before the registry of
// the cluster and forwards what it lets pass. Source: https://distribution.github.io/distribution/spec/auth/ (Basic), RFC 7617.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { registryTokens } from '../../dev/cluster/node/services/registry.ts'
import { registryAuthorityFiles } from '../../dev/cluster/pki/registry-authority.ts'
import { type ClusterSettings, devClusterFolder } from '../../dev/cluster/settings.ts'
import { createPushTokens } from '../../dev/images/registry/push-token.ts'

export type PrivateRegistry = {
  /** The image by digest in this registry. */
  readonly image: string
  readonly host: string
  readonly username: string
  readonly password: string
  readonly close: () => Promise<void>
}

/** `image`: one of the cluster's registry, by digest. */
export async function startPrivateRegistry(settings: ClusterSettings, image: string): Promise<PrivateRegistry> {
  const [, origin = '', repository = '', digest = ''] = /^([^/]+)\/(.+)@(sha256:[0-9a-f]{64})$/.exec(image) ?? []
  const tokens = createPushTokens(registryAuthorityFiles(join(devClusterFolder(settings), 'pki')), registryTokens)
  const [username, password] = ['robot', randomBytes(24).toString('base64url')]
  const expected = Buffer.from(`Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`)

  function isAllowed({ headers }: IncomingMessage): boolean {
    const given = Buffer.from(headers.authorization ?? '')
    return given.length === expected.length && timingSafeEqual(given, expected)
  }

  async function forward({ method = 'GET', url = '/', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const authorization = `Bearer ${await tokens([{ name: repository, actions: ['pull'] }])}`
    const accept = headers.accept ?? '*/*'
    const answer = await fetch(`http://${origin}${url}`, { method, headers: { authorization, accept } })
    const kept = ['content-type', 'content-length', 'docker-content-digest'].flatMap(name => {
      const value = answer.headers.get(name)
      return value === null ? [] : [[name, value] as const]
    })
    response.writeHead(answer.status, Object.fromEntries(kept))
    if (answer.body === null) response.end()
    else await pipeline(Readable.fromWeb(answer.body as never), response)
  }

  const server = createServer((request, response) => {
    if (!isAllowed(request)) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="a private registry"' }).end()
      return
    }
    forward(request, response).catch(error => response.destroy(error))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    image: `${host}/${repository}@${digest}`,
    host,
    username,
    password,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
