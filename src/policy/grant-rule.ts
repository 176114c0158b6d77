// The shape of a policy rule, and the rules of every tenant. A denying rule wins over an allowing one; what no rule allows is
// denied.
import type { SubjectKind } from './grant-facts.ts'
import type { PermissionLevel } from './permission-level.ts'

/** Allows or denies atoms of a grant. */
export type GrantRule = {
  /** Shown to people and written to the audit log: stable, and unique in its set. */
  readonly id: string
  readonly effect: 'allow' | 'deny'
  readonly subject: SubjectKind | '*'
  readonly repositoryId: number | '*'
  /** A permission of a GitHub App, `organization_*` for all permissions on the organisation itself, or `*`. */
  readonly permission: string
  /** An allowing rule applies up to and including this level, a denying one from this level on. */
  readonly level: PermissionLevel
}

/** Stands for every permission on the organisation itself. */
const organizationFamily = 'organization_*'

/** The family that a permission belongs to, or the permission itself. */
export function familyOf(permission: string): string {
  return permission.startsWith('organization_') ? organizationFamily : permission
}

const readable = ['actions', 'checks', 'contents', 'deployments', 'issues', 'metadata', 'pull_requests', 'statuses']
const reportable = ['checks', 'deployments', 'issues', 'pull_requests', 'statuses']

/** What the platform itself writes about, under grants that these kinds own. */
const reporters = ['AppPipeline', 'RemoteSync'] as const

const everywhere = { subject: '*', repositoryId: '*' } as const

/** The only rules of this version: tenants and platform admins cannot write their own. */
export const defaultGrantRules: readonly GrantRule[] = [
  { id: 'no-administration', effect: 'deny', ...everywhere, permission: 'administration', level: 'read' },
  { id: 'no-organization', effect: 'deny', ...everywhere, permission: organizationFamily, level: 'read' },
  ...readable.map(
    permission => ({ id: `read-${permission}`, effect: 'allow', ...everywhere, permission, level: 'read' }) satisfies GrantRule,
  ),
  ...reporters.flatMap(subject =>
    reportable.map(
      permission =>
        ({
          id: `${subject}-reports-${permission}`,
          effect: 'allow',
          subject,
          repositoryId: '*',
          permission,
          level: 'write',
        }) satisfies GrantRule,
    ),
  ),
]
