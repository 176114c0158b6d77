// What the token desk offers to the rest of the controllers: a token under a grant for one of its subjects, and the end of tokens.
// There is no other way to an installation token that reaches repositories of a tenant (but the grant controller's probe, see there).
import type { RepositoryGrant } from '../api/github/repository-grant.ts'
import type { SecretString } from '../lib/secret-string.ts'
import type { LiveTokenFilter, TokenSubject } from '../store/token-registry.ts'

export type TokenRequest = {
  /** Only its name, namespace and uid count: everything else is read anew from the API server. */
  readonly grant: Pick<RepositoryGrant, 'metadata'>
  readonly subject: TokenSubject
  /** Who acts: `system:serviceaccount:ns:name` or `sekisho:<process part>`. */
  readonly actor: string
}

export type DeliveredToken = {
  readonly token: SecretString
  readonly expiresAt: Date
  readonly repositories: readonly { readonly id: number; readonly fullName: string }[]
  readonly permissions: Readonly<Record<string, string>>
  /** The GitHub host the token is for. */
  readonly host: string
}

export type TokenDesk = {
  /**
   * Rejects with AppError: `forbidden` (a check refused, `reason` names it), `too_many_requests` (quota), `upstream_failed` or
   * `unavailable` (GitHub, the log or the registry). A token is delivered only after its audit record is durable.
   */
  readonly request: (request: TokenRequest) => Promise<DeliveredToken>
  /**
   * Ends every live token that the filter finds; resolves to their number when none lives. Rejects with `unavailable` when GitHub did
   * not take one back: it can no longer be delivered, and is tried again by the sweep until it expires.
   */
  readonly revokeBy: (filter: LiveTokenFilter, reason: string) => Promise<number>
}
