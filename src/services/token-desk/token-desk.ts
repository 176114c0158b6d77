// What the token desk offers to the controllers: a token under a grant for one of its subjects, and the revocation of tokens.
// There is no other way to an installation token that reaches a tenant's repositories, except the grant controller's probe
// (src/controllers/repository-grant/probe.ts), whose token reads metadata only.
import type { GrantDelivery } from '../../api/github/repository-grant/delivery.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import type { GitHubEndpoints } from '../../github/index.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { LiveTokenFilter, TokenSubject } from '../../store/token-registry.ts'

/** A request for a token by one subject under one grant. */
export type TokenRequest = {
  /** Only its name, namespace and uid count: everything else is read again from the API server. */
  readonly grant: Pick<RepositoryGrant, 'metadata'>
  readonly subject: TokenSubject
  /** The requester, for the audit log: `system:serviceaccount:ns:name` or `sekisho:<part of the process>`. */
  readonly actor: string
  /** How the token will be used; the grant must say the same. Default `TokenEndpoint`. */
  readonly delivery?: GrantDelivery
  /** Where the request came from, for the audit log: it decides nothing. */
  readonly from?: RequestOrigin
}

/** The pod of a workload and the address that it asked from; the pull request that the subject follows. */
export type RequestOrigin = {
  readonly pod?: { readonly name: string; readonly uid: string }
  readonly address?: string
  readonly pullRequest?: number
}

/** A token and its reach. It is for the requesting subject only. */
export type DeliveredToken = {
  readonly token: SecretString
  /** By our clock; GitHub may refuse it for some seconds from then on. Absent: it may be that new. */
  readonly mintedAt?: Date
  /** By our clock. */
  readonly expiresAt: Date
  /** From then on a request resolves to another token. */
  readonly renewFrom: Date
  readonly repositories: readonly { readonly id: number; readonly fullName: string }[]
  readonly permissions: Readonly<Record<string, string>>
  /** Those of the App that made it: Apps of one host may have different ones. */
  readonly endpoints: GitHubEndpoints
  /** `spec.git.refs` of the grant: what a push may change. Absent: every branch and every tag. */
  readonly refs?: readonly string[]
}

/** The port that controllers import; take a `Pick` of what is used. */
export type TokenDesk = {
  /** The uid of the grant that has this name now; undefined when there is none. */
  readonly grantUid: (grant: { readonly namespace: string; readonly name: string }) => Promise<string | undefined>
  /**
   * Resolves to a token with enough of its life left (`minting/token-life.ts`; one minute while GitHub is unreachable), after its
   * audit record is durable.
   * @throws AppError `forbidden` (a check refused; `reason` names it), `too_many_requests` (quota), `upstream_failed`,
   * `integrity_violation` or `unavailable` (GitHub, the audit log or the registry)
   */
  readonly request: (request: TokenRequest) => Promise<DeliveredToken>
  /**
   * Why the same request would be refused now, by what this process has observed: for what goes on after a delivery. Undefined
   * while it would be admitted.
   */
  readonly refusalNow: (request: TokenRequest, repositoryId: number) => Promise<string | undefined>
  /**
   * Revokes every active token that the filter finds, and resolves to their number.
   * A token of a suspended installation counts as revoked: it can be used for nothing, and is revoked when the suspension ends.
   * @throws AppError `unavailable` when GitHub did not revoke one: it can no longer be delivered, and the sweep retries until
   * it expires
   */
  readonly revokeBy: (filter: LiveTokenFilter, reason: string) => Promise<number>
}
