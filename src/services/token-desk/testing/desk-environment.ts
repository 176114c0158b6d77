// The token desk on a store, with the API server, the audit log and GitHub scripted. Test code only.
import type { Halt } from '../../../api/github/halt.ts'
import type { Installation } from '../../../api/github/installation.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import type { MintedToken, MintRequest } from '../../../github/index.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import type { AuditLog } from '../../../store/audit/audit-log.ts'
import { createCountedAudit } from '../../../store/audit/counted-audit.ts'
import type { TokenRegistry } from '../../../store/token-registry.ts'
import type { AuditAppend } from '../audit/desk-audit.ts'
import { createTokenDesk, type TokenDeskDeps } from '../desk.ts'
import { grantObject, host, installationObject, runner } from './desk-objects.ts'

type Store = { readonly tokens: TokenRegistry; readonly audit: Pick<AuditLog, 'append'> }

let grantCount = 0
/** The environment of one test: its own grant (so its own cache keys), and everything the desk did, in order. */
export function deskEnvironment(store: Store, clock: Clock) {
  grantCount += 1
  const state = {
    grant: grantObject({
      name: `grant-${grantCount}`,
      status: { checkedAt: clock.now().toISOString() },
    }) as RepositoryGrant | undefined,
    installation: installationObject as Installation | undefined,
    steps: [] as string[],
    minted: [] as string[],
    revoked: [] as string[],
    answer: (request: MintRequest): Partial<MintedToken> => ({ repositoryIds: [...(request.repositoryIds ?? [])] }),
    mintFails: undefined as Error | undefined,
    mintRefused: undefined as AppError | undefined,
    revokeFails: false,
    suspended: false,
    /** What the caches show, where that is not what the API server has. */
    cachedGrant: undefined as RepositoryGrant | undefined,
    reads: 0,
    auditFails: undefined as string | undefined,
    halts: [] as Halt[],
    duringMint: async (): Promise<void> => {},
    tokensPerHour: 600,
  }
  const audit: AuditAppend = {
    async append(record) {
      if (state.auditFails === record.action) throw new AppError('unavailable', 'the audit log is not writable')
      state.steps.push(`audit ${record.action} ${record.outcome}`)
      await store.audit.append(record)
    },
  }
  const github = {
    mintRefusal: () => state.mintRefused,
    async mint(request: MintRequest): Promise<MintedToken> {
      state.steps.push('mint')
      await state.duringMint()
      if (state.mintFails) throw state.mintFails
      const text = `ghs_${grantCount}_${state.minted.length}_${'x'.repeat(36)}`
      state.minted.push(text)
      const repositoryIds = [...(request.repositoryIds ?? [])]
      return {
        token: new SecretString(text),
        expiresAt: new Date(clock.now().getTime() + 3_600_000),
        repositoryIds,
        repositories: repositoryIds.map(id => ({ id, fullName: `acme/${id}` })),
        permissions: { ...request.permissions, metadata: 'read' },
        ...state.answer(request),
      }
    },
    async revoke(token: SecretString): Promise<void> {
      if (state.revokeFails) throw new AppError('unavailable', 'GitHub answered 502')
      state.steps.push('revoke')
      state.revoked.push(token.reveal())
    },
  }
  const client = {
    async get(type: { readonly kind: string }) {
      state.reads += 1
      return type.kind === 'RepositoryGrant' ? state.grant : state.installation
    },
    list: async (_type: unknown, { namespace }: { readonly namespace?: string }) =>
      state.halts.filter(({ metadata }) => metadata.namespace === namespace),
  } as unknown as KubeClient
  const counted = createCountedAudit({ audit, clock, log: silentLog })
  const deps: TokenDeskDeps = {
    client,
    cached: {
      grants: { get: () => state.cachedGrant ?? state.grant },
      installations: { get: () => state.installation, list: () => [] },
      halts: { list: () => [] },
    },
    counted,
    async wakeGrant(woken) {
      state.steps.push(`wake ${woken.metadata.name}`)
    },
    githubApps: {
      get: async () => ({ client: github as never, endpoints: { host, web: 'http://x', api: 'http://x' }, appId: 5001 }),
    },
    async revokeAtGitHub(_api, token) {
      if (state.suspended) return 'suspended'
      await github.revoke(token)
      return 'revoked'
    },
    isReady: () => !state.suspended,
    tokens: store.tokens,
    audit,
    clock,
    log: silentLog,
    tenantOf: () => ({ metadata: { name: 'acme' }, spec: { limits: { tokensPerHour: state.tokensPerHour } } }) as never,
  }
  const desk = createTokenDesk(deps)
  const { grant } = state
  if (grant === undefined) throw new Error('no grant')
  const subject = { ...runner }
  return { state, deps, desk, grant, counted, request: { grant, subject, actor: 'system:serviceaccount:acme:runner' } }
}
