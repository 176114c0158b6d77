// What the routes share: the parts of the broker, made once by `app.ts` and passed on. No state of its own.
import type { Installation } from '../api/github/installation.ts'
import type { Tenant } from '../api/tenancy/tenant.ts'
import type { Issuer } from '../identity/oidc/issuer.ts'
import type { IssuerKeys } from '../identity/oidc/issuer-keys.ts'
import type { IdentityClaims } from '../identity/verify-id-token.ts'
import type { Cache } from '../kube/cache/object-cache.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/store.ts'
import type { BrokerSettings } from './config.ts'
import type { BrokerGitHub } from './github.ts'
import type { OnboardingWorker } from './onboarding/onboarding-controller.ts'
import type { People } from './people/people.ts'
import type { PersonSessions } from './sessions.ts'
import type { InboxWorker } from './webhooks/inbox-worker.ts'

export type BrokerContext = {
  readonly settings: BrokerSettings
  readonly store: Store
  readonly github: BrokerGitHub
  readonly people: People
  readonly sessions: PersonSessions
  readonly tenants: Cache<Tenant>
  readonly installations: Cache<Installation>
  readonly issuer: Issuer
  readonly issuerKeys: IssuerKeys
  readonly verifyIdToken: (token: string) => Promise<IdentityClaims>
  readonly onboarding: OnboardingWorker
  readonly inbox: InboxWorker
  readonly clock: Clock
  readonly log: Log
}
