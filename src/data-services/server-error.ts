// What an error of a server means for the object that waits for it. Pure. No text of it has a password.
import { AppError, messageOf } from '../lib/errors.ts'
import { StoreError } from '../object-store/store-error.ts'
import { codeOf } from './adapters/postgresql/server.ts'

/** `away`: ask again. `login`: the password of the administrator is refused. `refused`: it answered, and said no. */
export type ServerTrouble = { readonly kind: 'away' | 'login' | 'refused'; readonly message: string }

const maxText = 300
/** Invalid authorization, SQLSTATE class 28. */
const invalidLogin = /^28/
/** Connection exceptions, too many connections, shutdown, a canceled statement: SQLSTATE classes 08, 53, 57; a lock: 55P03. */
const passing = /^(08|53|57|55P03)/

/** @throws the error when it is none of a server */
export function troubleOf(error: unknown): ServerTrouble {
  if (error instanceof StoreError) return { kind: error.kind, message: error.message.slice(0, maxText) }
  const cause = error instanceof AppError && error.code === 'unavailable' ? error.cause : error
  const code = codeOf(cause)
  const message = messageOf(error).slice(0, maxText)
  if (code !== undefined && cause !== error && invalidLogin.test(code)) return { kind: 'login', message }
  if (cause !== error || (code !== undefined && passing.test(code)) || isBroken(error)) return { kind: 'away', message }
  if (code !== undefined) return { kind: 'refused', message }
  throw error
}

/** The driver has no code for a connection that ended, or an answer that did not come. */
function isBroken(error: unknown): boolean {
  const isOfSystem = error instanceof Error && 'syscall' in error
  return isOfSystem || /^(Connection terminated|Query read timeout|timeout e)/i.test(messageOf(error))
}
