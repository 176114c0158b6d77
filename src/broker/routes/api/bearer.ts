// Who calls the API: the bearer of an ID token of our own issuer. Cookies do not count, so no page of another site can call it.
import type { FastifyRequest } from 'fastify'
import type { IdentityClaims } from '../../../identity/verify-id-token.ts'
import { AppError } from '../../../lib/errors.ts'
import type { BrokerContext } from '../../context.ts'

/** The token of the request. Throws `unauthenticated` without one. */
export function requireBearer(request: FastifyRequest): string {
  const token = /^Bearer ([A-Za-z0-9._-]{20,16384})$/i.exec(request.headers.authorization ?? '')?.[1]
  if (token !== undefined) return token
  throw new AppError('unauthenticated', 'send an ID token as bearer: run sekisho login')
}

/** The caller. Rejects with `unauthenticated` without a valid token, and with `forbidden` unless they administer the platform. */
export async function requirePlatformAdmin(
  { verifyIdToken, platformAdmins }: Pick<BrokerContext, 'verifyIdToken' | 'platformAdmins'>,
  request: FastifyRequest,
): Promise<IdentityClaims> {
  const identity = await verifyIdToken(requireBearer(request))
  if (await platformAdmins.includes(identity)) return identity
  throw new AppError('forbidden', 'only platform admins may do this')
}
