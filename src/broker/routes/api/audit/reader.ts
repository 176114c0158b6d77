// Who reads the audit log over the API: a person by an ID token of ours, or a program by the token of its ServiceAccount. No
// other route takes the second.
import type { FastifyRequest } from 'fastify'
import { SecretString } from '../../../../lib/secret-string.ts'
import { clientAddress } from '../../../../web/clients/client-key.ts'
import type { AuditReader } from '../../../auditors/audit-readers.ts'
import type { BrokerContext } from '../../../context.ts'
import { requireBearer } from '../bearer.ts'

export type RequestReader = {
  readonly reader: AuditReader
  /** The user name, for limits. */
  readonly name: string
  /** The end of the token. */
  readonly expiresAt: Date
}

/** Rejects with `unauthenticated` without a valid token, and as `ServiceAccounts.identify` does. */
export async function requireReader(
  { verifyIdToken, serviceAccounts }: Pick<BrokerContext, 'verifyIdToken' | 'serviceAccounts'>,
  request: FastifyRequest,
): Promise<RequestReader> {
  const bearer = requireBearer(request)
  const account = await serviceAccounts.identify(new SecretString(bearer), clientAddress(request))
  if (account !== undefined) return { reader: account, name: account.username, expiresAt: account.expiresAt }
  const person = await verifyIdToken(bearer)
  return { reader: person, name: person.subject, expiresAt: person.expiresAt }
}
