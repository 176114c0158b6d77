// The git credential protocol: what git sends to a credential helper, and what it receives. Pure; a value with a line break is
// never written.
// Source: https://git-scm.com/docs/git-credential#IOFMT
import { tokenUser } from '../../../github/index.ts'
import { AppError } from '../../../lib/errors.ts'

/** What git wants a credential for. */
export type CredentialRequest = { readonly protocol: string; readonly host: string; readonly path: string | undefined }

const maxLines = 50

/**
 * Reads `key=value` lines up to the first empty one.
 * @throws AppError `invalid_request` for other lines, or without protocol or host
 */
export function readCredentialRequest(text: string): CredentialRequest {
  const lines = text.split('\n').slice(0, maxLines)
  const end = lines.indexOf('')
  const fields = new Map<string, string>()
  for (const line of end === -1 ? lines : lines.slice(0, end)) {
    const split = line.indexOf('=')
    if (split < 1 || /[\0\r]/.test(line))
      throw new AppError('invalid_request', 'body must be lines of key=value, as git writes them')
    fields.set(line.slice(0, split), line.slice(split + 1))
  }
  const protocol = fields.get('protocol') ?? ''
  const host = fields.get('host') ?? ''
  if (protocol === '' || host === '') throw new AppError('invalid_request', 'protocol and host must be given')
  return { protocol, host, path: fields.get('path') }
}

/** `owner/name` of a path such as `owner/name.git` or `/owner/name`. */
export function repositoryOfPath(path: string): string {
  return path
    .replace(/^\/+/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
}

/**
 * The answer's lines, with the user name that GitHub wants for installation tokens.
 * @throws AppError `integrity_violation` when the token contains a line break: git would read what follows as another field
 */
export function credentialAnswer(answer: { readonly token: string; readonly expiresAt: Date }): string {
  const lines = [
    `username=${tokenUser}`,
    `password=${answer.token}`,
    `password_expiry_utc=${Math.floor(answer.expiresAt.getTime() / 1000)}`,
  ]
  if (lines.some(line => /[\n\r\0]/.test(line)))
    throw new AppError('integrity_violation', 'a token with a line break cannot be passed to git')
  return `${lines.join('\n')}\n`
}
