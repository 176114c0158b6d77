// A token on standard input, which nothing here keeps: only its SHA-256 goes on.
import { createHash } from 'node:crypto'
import { AppError } from '../../../lib/errors.ts'

const maxToken = 4096

/** Resolves to GitHub's `hashed_token` form: SHA-256 in base64. Rejects with `invalid_request` without a token. */
export async function hashFromInput(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin) {
    text += String(chunk)
    if (text.length > maxToken) break
  }
  const token = text.trim()
  if (token === '' || token.length > maxToken) throw new AppError('invalid_request', 'pass the token on standard input')
  return createHash('sha256').update(token).digest('base64')
}
