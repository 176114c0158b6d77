// The git credential protocol: what git asks of a helper, and what it gets. Pure; an answer with a line break in a value is never made.
// Source: https://git-scm.com/docs/git-credential#IOFMT
import { AppError } from '../../lib/errors.ts'

export type CredentialQuestion = { readonly protocol: string; readonly host: string; readonly path: string | undefined }

const mostLines = 50

/** Reads `key=value` lines up to the first empty one; throws `invalid_request` for what is no such question. */
export function readQuestion(text: string): CredentialQuestion {
  const lines = text.split('\n').slice(0, mostLines)
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

export function credentialAnswer(answer: { readonly token: string; readonly expiresAt: Date }): string {
  const lines = [
    'username=x-access-token',
    `password=${answer.token}`,
    `password_expiry_utc=${Math.floor(answer.expiresAt.getTime() / 1000)}`,
  ]
  if (lines.some(line => /[\n\r\0]/.test(line)))
    throw new AppError('integrity_violation', 'a token with a line break cannot be handed to git')
  return `${lines.join('\n')}\n`
}
