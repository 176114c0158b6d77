// A single-use token for one GitHub request by the platform itself: registered and audited before it exists, used at once, then
// revoked. It is stored as `revoking` from the start, so the sweep of the token desk revokes it after a crash. It never leaves
// the callback that uses it and is never delivered.
import { randomUUID } from 'node:crypto'
import type { AuditAction, AuditRecord } from '../../api/audit/audit-event.ts'
import { platformNamespace } from '../../api/names.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import {
  hashedToken,
  type MintedFacts,
  platformSubjectKind,
  type TokenIntent,
  type TokenRegistry,
} from '../../store/token-registry.ts'
import type { GitHubApp } from './app-clients.ts'
import { platformFacts } from './audit/desk-audit.ts'

export type SingleUseTokenDeps = {
  readonly tokens: Pick<TokenRegistry, 'intend' | 'recordMinted' | 'markRevoked' | 'abandon'>
  readonly audit: { readonly append: (record: AuditRecord) => Promise<unknown> }
  readonly log: Log
}

/** What the platform requests of GitHub, and who does it and why: for the audit log and the registry. */
export type PlatformRequest = Pick<AuditRecord, 'actor' | 'namespace' | 'object' | 'reason'> & {
  readonly installationId: number
  readonly permissions: TokenIntent['permissions']
  readonly details?: AuditRecord['details']
}

/** One use of one token. */
export type SingleUse<M extends MintedFacts, R> = {
  readonly request: PlatformRequest
  /** Undefined when GitHub does not have what was requested. */
  readonly mint: () => Promise<M | undefined>
  readonly use: (minted: M) => Promise<R>
}

/** In a record: GitHub lets a token be asked for at most 500 by their ids. */
const maxRepositories = 500

/**
 * Resolves to the result of `use`, or to undefined when `mint` resolved to undefined.
 * @throws AppError when the registry, the audit log or GitHub failed: nothing was learned, and the token is revoked if there is
 * one
 */
export async function withSingleUseToken<M extends MintedFacts, R>(
  deps: SingleUseTokenDeps,
  app: GitHubApp,
  { request, mint, use }: SingleUse<M, R>,
): Promise<R | undefined> {
  const id = await deps.tokens.intend(intentOf(app, request))
  const facts = auditFacts(app, request, id)
  const append: Append = (action, outcome, more = {}) =>
    deps.audit.append({ ...facts, action, outcome, details: { ...facts.details, ...more } })
  await append('token.intended', 'allowed')
  const minted = await mintOrAbandon(deps, id, append, mint)
  if (minted === undefined) return undefined
  try {
    await deps.tokens.recordMinted(id, minted, request.reason)
    await append('token.minted', 'allowed', mintedDetails(minted))
    return await use(minted)
  } finally {
    const appendEnd: Append = (action, outcome) => append(action, outcome, mintedDetails(minted))
    await revoke(deps, id, appendEnd, () => app.client.revoke(minted.token, { fresh: true }))
  }
}

type Append = (action: AuditAction, outcome: AuditRecord['outcome'], more?: AuditRecord['details']) => Promise<unknown>

function mintedDetails({ token, repositoryIds, expiresAt }: MintedFacts): AuditRecord['details'] {
  return {
    hashedToken: hashedToken(token),
    repositoryIds: repositoryIds.slice(0, maxRepositories),
    expiresAt: expiresAt.toISOString(),
  }
}

async function mintOrAbandon<M>(
  deps: SingleUseTokenDeps,
  id: string,
  append: Append,
  mint: () => Promise<M | undefined>,
): Promise<M | undefined> {
  const abandon = async (reason: string): Promise<void> => {
    await deps.tokens.abandon(id, reason)
    await append('token.refused', 'failed')
  }
  let minted: M | undefined
  try {
    minted = await mint()
  } catch (error) {
    await abandon(messageOf(error))
    throw error
  }
  if (minted === undefined) await abandon('GitHub does not have what was requested')
  return minted
}

/** A token that GitHub does not revoke stays in the registry, where the sweep retries until it expires. */
async function revoke(deps: SingleUseTokenDeps, id: string, append: Append, revokeAtGitHub: () => Promise<void>): Promise<void> {
  try {
    await revokeAtGitHub()
  } catch (error) {
    deps.log.error({ token: id, error: messageOf(error) }, 'failed to revoke a single-use token')
    await append('token.revoked', 'failed')
    return
  }
  await append('token.revoked', 'allowed')
  await deps.tokens.markRevoked(id, 'it was used')
}

function intentOf(app: GitHubApp, request: PlatformRequest): TokenIntent {
  return {
    // Not a digest, so no request of the token desk has this key.
    cacheKey: `single-use:${randomUUID()}`,
    installation: { host: app.endpoints.host, appId: app.appId, installationId: request.installationId },
    api: app.endpoints.api,
    grantUid: '',
    grantName: '',
    // The platform's own namespace: it does not count against a tenant's quota.
    subject: { kind: platformSubjectKind, namespace: platformNamespace, name: request.actor, uid: '' },
    repositoryIds: [],
    permissions: request.permissions,
    facts: platformFacts(request),
  }
}

function auditFacts(app: GitHubApp, request: PlatformRequest, token: string): Omit<AuditRecord, 'action' | 'outcome'> {
  const { installationId, permissions, details, ...who } = request
  const { host } = app.endpoints
  return { ...who, details: { token, host, appId: app.appId, installationId, permissions: { ...permissions }, ...details } }
}
