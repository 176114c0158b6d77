// Says for whom a token request counts: for the sign-in whose code or refresh token it carries, if this process issued that,
// else for its address. It looks at the body and puts it back, because the issuer reads it by itself.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { IssuedHandles } from '../../../identity/oidc/issued-handles.ts'
import type { ProvenClient } from '../../../web/clients/client-key.ts'

/** Larger requests, which no client sends, count for their address. */
const maxBytes = 8192
const carriers = ['refresh_token', 'device_code', 'code', 'token']

/** For requests to the token and revocation endpoints. */
export function createTokenClient(handles: Pick<IssuedHandles, 'grantOf'>): ProvenClient {
  return async (request: FastifyRequest) => {
    const parameters = new URLSearchParams((await peekBody(request.raw)).toString())
    for (const name of carriers) {
      const grant = handles.grantOf(parameters.get(name) ?? '')
      if (grant !== undefined) return `grant ${grant}`
    }
    return undefined
  }
}

/** The whole body, which can still be read afterwards; empty when it is large, or of unknown length, or does not arrive. */
async function peekBody(raw: IncomingMessage): Promise<Buffer> {
  const length = Number(raw.headers['content-length'] ?? 0)
  if (!(length > 0 && length <= maxBytes)) return Buffer.alloc(0)
  while (!raw.destroyed) {
    const bytes: Buffer | null = raw.read(length)
    if (bytes !== null) {
      raw.unshift(bytes)
      return bytes
    }
    const waiting = new AbortController()
    const { signal } = waiting
    const events = ['readable', 'end', 'close'].map(name => once(raw, name, { signal }).catch(() => undefined))
    await Promise.race(events)
    waiting.abort()
  }
  return Buffer.alloc(0)
}
