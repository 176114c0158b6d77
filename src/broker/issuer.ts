// The broker as an OIDC issuer: its keys, the issuer that follows them through their periods, and the verifier of its tokens.
// Composition only: what a token contains is decided in src/identity and by `people`, which read the claims from GitHub
// whenever a token is made.
import { kubernetesClientId } from '../api/names.ts'
import { createIssuedHandles, type IssuedHandles } from '../identity/oidc/issued-handles.ts'
import { createIssuer, type Issuer } from '../identity/oidc/issuer.ts'
import type { IssuerAccounts } from '../identity/oidc/issuer-configuration.ts'
import { type IssuerKeys, loadIssuerKeys } from '../identity/oidc/issuer-keys.ts'
import { createPollingPace } from '../identity/oidc/polling-pace.ts'
import { createRotatingIssuer } from '../identity/oidc/rotating-issuer.ts'
import { createIdTokenVerifier, type IdentityClaims } from '../identity/verify-id-token.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { AuditLog } from '../store/audit/audit-log.ts'
import type { BrokerStore } from '../store/store.ts'
import { issuerPages } from './pages/issuer.ts'
import type { People } from './people/people.ts'
import { createRefusedTokens, type RefusedTokens } from './people/refused-tokens.ts'

export type BrokerIssuer = RefusedTokens & {
  readonly issuer: Issuer
  readonly issuerKeys: IssuerKeys
  /** The codes and refresh tokens that this process issued lately. */
  readonly issuedHandles: IssuedHandles
  /** Rejects with `unauthenticated` for a token that is not a valid ID token of this issuer. */
  readonly verifyIdToken: (token: string) => Promise<IdentityClaims>
}

export type BrokerIssuerDeps = {
  readonly publicUrl: URL
  readonly store: Pick<BrokerStore, 'keys' | 'oidc' | 'audit' | 'attempts'>
  readonly people: People
  /** Set on the answers that the issuer sends by itself. */
  readonly headers: () => Readonly<Record<string, string>>
  readonly clock: Clock
  readonly log: Log
}

/** Opens the signing keys in the store, creating them once. Rejects with `unavailable` when the store does not answer. */
export async function createBrokerIssuer(deps: BrokerIssuerDeps): Promise<BrokerIssuer> {
  const { publicUrl, store, people, headers, clock, log } = deps
  const issuerKeys = await loadIssuerKeys(store.keys, clock, error =>
    log.error({ error: messageOf(error) }, 'failed to load signing keys'),
  )
  const refused = createRefusedTokens(people, { audit: store.audit, clock, log })
  const accounts = issuerAccounts({ exists: people.exists, claims: refused.tokenClaims }, store.audit)
  const issuedHandles = createIssuedHandles()
  const issuer = createRotatingIssuer(issuerKeys, () =>
    createIssuer({
      publicUrl,
      keys: issuerKeys,
      records: store.oidc,
      pace: createPollingPace(store.attempts.count),
      accounts,
      pages: issuerPages,
      handles: issuedHandles,
      headers,
      now: clock.now,
      log,
    }),
  )
  const verifyIdToken = createIdTokenVerifier({
    issuer: publicUrl.origin,
    audience: kubernetesClientId,
    keySet: async () => {
      await issuerKeys.period()
      return { keys: [...issuerKeys.publicKeys.keys] }
    },
    clock,
  })
  return { issuer, issuerKeys, issuedHandles, verifyIdToken, ...refused }
}

/** People as the issuer needs them, and an audit record for every token. */
function issuerAccounts(people: Pick<People, 'exists' | 'claims'>, audit: AuditLog): IssuerAccounts {
  return {
    exists: people.exists,
    claims: people.claims,
    async recordIssued(subject, { login, groups }) {
      await audit.append({
        action: 'kubectl-token.issued',
        actor: subject,
        object: 'IDToken',
        outcome: 'allowed',
        reason: 'signed in, groups read from GitHub',
        details: { login, groups },
      })
    },
    async recordReplayed(subject, isAccepted) {
      await audit.append({
        action: 'refresh-token.replayed',
        actor: subject,
        object: 'RefreshToken',
        outcome: isAccepted ? 'allowed' : 'denied',
        reason: isAccepted
          ? 'sent again shortly after its use, as when its answer was lost'
          : 'used before: all tokens of the sign-in end',
        details: {},
      })
    },
  }
}
