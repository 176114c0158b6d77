// What git sends as user name and password: the name of the grant, and the pod's own ServiceAccount token. It comes from a
// credential helper, so it is in no URL, argument or file of the repository. Pure.
// Source: RFC 7617 §2
import { AppError } from '../../../lib/errors.ts'
import { SecretString } from '../../../lib/secret-string.ts'

export type GitCredential = { readonly grant: string; readonly bearer: SecretString }

const grantName = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/

/** @throws AppError `unauthenticated` for anything else than a grant's name and a password */
export function readCredential(header: string | undefined): GitCredential {
  const encoded = /^Basic ([\w+/=-]+)$/i.exec(header ?? '')?.[1]
  const text = Buffer.from(encoded ?? '', 'base64').toString('utf8')
  const colon = text.indexOf(':')
  const grant = text.slice(0, Math.max(0, colon))
  if (!grantName.test(grant))
    throw new AppError(
      'unauthenticated',
      'the user name must be the name of a RepositoryGrant and the password the projected ServiceAccount token of the pod',
    )
  return { grant, bearer: new SecretString(text.slice(colon + 1)) }
}
