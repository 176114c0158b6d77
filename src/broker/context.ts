// The parts of the broker that the routes share, created once by `app.ts`. No state of its own.
import type { Installation } from '../api/github/installation.ts'
import type { Mode } from '../api/names.ts'
import type { Tenant } from '../api/tenancy/tenant.ts'
import type { Cache } from '../kube/cache/object-cache.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Periodic } from '../lib/periodic.ts'
import type { BrokerStore } from '../store/store.ts'
import type { LossDeps } from './audit/loss-deps.ts'
import type { AuditReaders } from './auditors/audit-readers.ts'
import type { ServiceAccounts } from './auditors/service-accounts.ts'
import type { VisibleBuilds } from './builds/visible-builds.ts'
import type { BrokerSettings } from './config.ts'
import type { BrokerGitHub } from './github.ts'
import type { AnswerGrantDeps } from './grants/answer-grant.ts'
import type { VisibleGrants } from './grants/visible-grants.ts'
import type { BrokerIssuer } from './issuer.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import type { BrokerMetrics } from './metrics.ts'
import type { OnboardingController } from './onboarding/onboarding-controller.ts'
import type { OnboardingDeps } from './onboarding/prove-binding.ts'
import type { BindAppDeps } from './owners/bind-app.ts'
import type { OffboardDeps } from './owners/offboard.ts'
import type { StandInDeps } from './owners/stand-in.ts'
import type { HaltedPeople } from './people/halted-people.ts'
import type { People } from './people/people.ts'
import type { PlatformAdmins } from './people/platform-admins.ts'
import type { ApprovePreviewDeps } from './previews/approve-preview.ts'
import type { VisiblePreviews } from './previews/visible-previews.ts'
import type { PersonSessions } from './sessions.ts'
import type { VisibleTenants } from './tenants/visible-tenants.ts'

export type BrokerContext = BrokerIssuer & {
  readonly mode: Mode
  readonly settings: BrokerSettings
  readonly store: BrokerStore
  readonly github: BrokerGitHub
  readonly people: People
  readonly platformAdmins: PlatformAdmins
  /** Who reads which part of the audit log, and the programs among them. */
  readonly auditReaders: AuditReaders
  readonly serviceAccounts: ServiceAccounts
  readonly sessions: PersonSessions
  readonly knownBrowsers: KnownBrowsers
  readonly tenants: Cache<Tenant>
  readonly installations: Cache<Installation>
  /** The Halt that holds for a tenant as a whole. */
  readonly haltOfTenant: HaltedPeople['ofTenant']
  /** Tenants as people may see them. */
  readonly visibleTenants: VisibleTenants
  /** The builds of tenants and their logs, for those who may read them. */
  readonly builds: VisibleBuilds
  /** What approving a commit of a fork needs, and the previews that people may see. */
  readonly approvals: ApprovePreviewDeps & { readonly previews: VisiblePreviews }
  /** What answering for a grant needs, and the grants that people may see. */
  readonly grantAnswers: AnswerGrantDeps & { readonly grants: VisibleGrants }
  /** What owners need to change roles and to end a tenant. */
  readonly owners: OffboardDeps
  /** What owners need to bind other Apps of a pool. */
  readonly bindApps: BindAppDeps
  /** What owners need to stand in for the binding of a tenant. */
  readonly standIns: StandInDeps
  /** What onboarding needs to prove and remember. */
  readonly onboarding: OnboardingDeps
  readonly onboardingController: OnboardingController
  readonly inbox: Pick<Periodic, 'wake'>
  readonly metrics: BrokerMetrics
  /** What acknowledging lost entries of the audit log needs. */
  readonly losses: LossDeps
  readonly clock: Clock
  readonly log: Log
}
