// Asks GitHub, as the App, whether the teams that a Tenant names are teams of its organisation. A wrong id gives nobody a role
// and would otherwise be noticed only by people who lack access. Writes nothing to the cluster; never throws: a failure to find
// out is an answer, too.
// Source: https://docs.github.com/en/rest/teams/teams#get-a-team-by-name
import type { Installation } from '../../../api/github/installation.ts'
import { type Tenant, tenantConditions, tenantReasons } from '../../../api/tenancy/tenant.ts'
import { createOrganizationClient, type Fetch, type OrganizationClient } from '../../../github/index.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import type { Clock } from '../../../lib/clock.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { KeyedBuckets } from '../../../lib/limits/keyed-buckets.ts'
import { spreadOf } from '../../../lib/limits/spread.ts'
import { appOfInstallation, type GitHubApps } from '../../../services/token-desk/app-clients.ts'
import {
  type PlatformRequest,
  type SingleUseTokenDeps,
  withSingleUseToken,
} from '../../../services/token-desk/single-use-token.ts'
import { type Unreachable, unreachable } from '../../kit/github-unreachable.ts'
import { wakeOf } from '../../kit/repository/observed-wake.ts'

/** GitHub's answer about the teams in `spec.roles`, or why it was not asked. */
export type TeamsAnswer =
  /** No team is named, or the account is a person's, which has no teams (`teams` lists those that are named all the same). */
  | { readonly kind: 'no-organization-teams'; readonly teams: readonly number[] }
  | { readonly kind: 'known'; readonly teams: readonly number[]; readonly missing: readonly number[]; readonly askedAt: Date }
  | { readonly kind: 'not-checkable'; readonly message: string }
  | Unreachable
  /** GitHub was asked recently enough, and nothing has changed since. */
  | { readonly kind: 'not-due' }

export type TeamCheckDeps = SingleUseTokenDeps & {
  readonly githubApps: GitHubApps
  readonly clock: Clock
  /** The cached Installations of a namespace. */
  readonly installationsIn: (namespace: string) => readonly Installation[]
  /** How often the teams are checked without a reason. */
  readonly teamCheckMilliseconds: number
  /** The App's share for checks without a reason, by the name of its ClusterGitHubApp. */
  readonly teamChecks: KeyedBuckets
  readonly fetch?: Fetch
}

/** Costs no request unless a team is named, an Installation is ready and the check is due. */
export async function checkTeams(deps: TeamCheckDeps, tenant: Tenant): Promise<TeamsAnswer> {
  const { account, roles, namespace } = tenant.spec
  const named = roles.map(({ subject }) => (subject.type === 'Team' ? subject.id : undefined))
  const teams = [...new Set(named.filter(id => id !== undefined))]
  if (teams.length === 0 || account.type === 'User') return { kind: 'no-organization-teams', teams }
  const bound = deps
    .installationsIn(namespace)
    .filter(({ spec }) => spec.account.id === account.id && spec.account.host === account.host)
  const ready = bound.find(({ status }) => findCondition(status?.conditions, 'Ready')?.status === 'True')
  if (!ready) return { kind: 'not-checkable', message: `namespace ${namespace} has no Installation that is ready` }
  if (ready.status?.permissions?.['members'] === undefined)
    return { kind: 'not-checkable', message: 'the GitHub App may not read members: give it the permission members: read' }
  if (!isDue(deps, tenant, ready.spec.app)) return { kind: 'not-due' }
  return ask(deps, tenant, ready, teams)
}

/** At once after a change and after a webhook; otherwise on schedule, within the share of the App. */
function isDue({ clock, teamCheckMilliseconds, teamChecks }: TeamCheckDeps, tenant: Tenant, app: string): boolean {
  const { metadata, status } = tenant
  const before = findCondition(status?.conditions, tenantConditions.rolesResolved)
  if (before === undefined || before.reason === tenantReasons.teamsNotChecked || status?.teamsCheckedAt === undefined) return true
  if (before.observedGeneration !== metadata.generation) return true
  if (wakeOf(tenant) !== status.observedWake) return true
  const age = clock.now().getTime() - Date.parse(status.teamsCheckedAt)
  return age >= teamCheckMilliseconds * spreadOf(metadata.uid ?? '') && teamChecks.take(app) === 0
}

async function ask(deps: TeamCheckDeps, tenant: Tenant, { spec }: Installation, teams: readonly number[]): Promise<TeamsAnswer> {
  const askedAt = deps.clock.now()
  const { log, clock, fetch } = deps
  const request: PlatformRequest = {
    actor: 'sekisho:tenant-controller',
    namespace: tenant.spec.namespace,
    object: `Tenant/${tenant.metadata.name}`,
    reason: 'do the teams that have roles belong to the organisation',
    installationId: spec.installationId,
    permissions: { members: 'read' },
  }
  try {
    const app = await appOfInstallation(deps.githubApps, spec)
    const clientDeps = { endpoints: app.endpoints, log, clock, ...defined({ fetch }) }
    const missing = await withSingleUseToken(deps, app, {
      request,
      mint: () => app.client.mintOrganizationReader(spec.installationId),
      use: ({ token }) => missingTeams(createOrganizationClient({ ...clientDeps, token }), spec.account.id, teams),
    })
    return { kind: 'known', teams, missing: missing ?? teams, askedAt }
  } catch (error) {
    return unreachable(error)
  }
}

/** One request for each team: a Tenant names at most a hundred, an organisation may have thousands. */
async function missingTeams(
  client: OrganizationClient,
  organizationId: number,
  teams: readonly number[],
): Promise<readonly number[]> {
  const missing: number[] = []
  for (const id of teams) if (!(await client.hasTeam(organizationId, id))) missing.push(id)
  return missing
}
