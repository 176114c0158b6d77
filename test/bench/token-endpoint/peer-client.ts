// The client of the peer, and its request for a token.
import type { PlannedRequest } from '../load/planned-request.ts'

export const peerClient = { id: 'bench', secret: 'a secret of the bench, which protects nothing' } as const

/** RFC 6749 §4.4.2 and §2.3.1: the secret is form-encoded before it becomes a part of the header. */
export function plannedCredentials(): PlannedRequest {
  const { id, secret } = peerClient
  const basic = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')
  return {
    path: '/token',
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from('grant_type=client_credentials').toString('base64'),
    expectedStatus: 200,
    expectedText: '"access_token":"',
  }
}
