// A token of the platform's own for one question to GitHub: registered and audited before it exists, used at once, then revoked. It is
// under revocation from the moment it is recorded, so whatever dies in between, the sweep of the token desk ends it. Never handed out.
import { randomUUID } from 'node:crypto'
import type { AuditAction, AuditRecord } from '../api/audit-event.ts'
import { platformNamespace } from '../api/names.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { MintedFacts, TokenIntent, TokenRegistry } from '../store/token-registry.ts'
import type { GitHubApp } from './app-clients.ts'

export type PassingTokenDeps = {
  readonly tokens: Pick<TokenRegistry, 'intend' | 'recordMinted' | 'markRevoked' | 'abandon'>
  readonly audit: { readonly append: (record: AuditRecord) => Promise<unknown> }
  readonly log: Log
}

/** Who asks what, for the audit log and the registry. */
export type Question = Pick<AuditRecord, 'actor' | 'namespace' | 'object' | 'reason'> & {
  readonly installationId: number
  readonly permissions: TokenIntent['permissions']
  readonly details?: AuditRecord['details']
}

/** Kind of the registry's subject: the sweep leaves such a token alone while its question may still be under way. */
export const passingTokenSubject = 'Controller'

/**
 * Resolves to what `use` made of the token, or to undefined when `mint` did.
 * @throws AppError when the registry, the audit log or GitHub failed: then nothing was learned, and the token is ended if there is one
 */
export async function withPassingToken<M extends MintedFacts, R>(
  deps: PassingTokenDeps,
  app: GitHubApp,
  question: Question,
  mint: () => Promise<M | undefined>,
  use: (minted: M) => Promise<R>,
): Promise<R | undefined> {
  const id = await deps.tokens.intend(intentOf(app, question))
  const append = (action: AuditAction, outcome: AuditRecord['outcome']): Promise<unknown> =>
    deps.audit.append(recordOf(app, question, id, action, outcome))
  await append('token.intended', 'allowed')
  const minted = await minting(deps, id, append, mint)
  if (minted === undefined) return undefined
  try {
    await deps.tokens.recordMinted(id, minted, question.reason)
    await append('token.minted', 'allowed')
    return await use(minted)
  } finally {
    await revoke(deps, app, id, minted, append)
  }
}

type Append = (action: AuditAction, outcome: AuditRecord['outcome']) => Promise<unknown>

async function minting<M>(
  deps: PassingTokenDeps,
  id: string,
  append: Append,
  mint: () => Promise<M | undefined>,
): Promise<M | undefined> {
  const end = async (reason: string): Promise<void> => {
    await deps.tokens.abandon(id, reason)
    await append('token.refused', 'failed')
  }
  let minted: M | undefined
  try {
    minted = await mint()
  } catch (error) {
    await end(messageOf(error))
    throw error
  }
  if (minted === undefined) await end('GitHub does not have what was asked for')
  return minted
}

/** A token that GitHub does not take back stays in the registry, where the sweep tries again until it expires. */
async function revoke(deps: PassingTokenDeps, app: GitHubApp, id: string, minted: MintedFacts, append: Append): Promise<void> {
  try {
    await app.client.revoke(minted.token, { fresh: true })
  } catch (error) {
    deps.log.error({ token: id, problem: messageOf(error) }, 'a token for one question could not be revoked yet')
    await append('token.revoked', 'failed')
    return
  }
  await append('token.revoked', 'allowed')
  await deps.tokens.markRevoked(id, 'its question was answered')
}

function intentOf(app: GitHubApp, question: Question): TokenIntent {
  return {
    // Nobody can ask for it.
    cacheKey: `question:${randomUUID()}`,
    installation: { host: app.endpoints.host, appId: app.appId, installationId: question.installationId },
    grantUid: '',
    grantName: '',
    // The platform's own: no tenant's quota pays for it.
    subject: { kind: passingTokenSubject, namespace: platformNamespace, name: question.actor, uid: '' },
    repositoryIds: [],
    permissions: question.permissions,
  }
}

function recordOf(
  app: GitHubApp,
  question: Question,
  token: string,
  action: AuditAction,
  outcome: AuditRecord['outcome'],
): AuditRecord {
  const { installationId, permissions, details, ...who } = question
  const { host } = app.endpoints
  const facts = { token, host, appId: app.appId, installationId, permissions: { ...permissions }, ...details }
  return { ...who, action, outcome, details: facts }
}
