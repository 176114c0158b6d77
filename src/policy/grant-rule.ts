// What a policy rule says, and the rules every tenant has. Denying wins over allowing; what no rule speaks of waits for a person.
import type { AccessLevel, SubjectKind } from './grant-facts.ts'

export type GrantRule = {
  /** Shown to people and kept in the audit log: stable, unique in its set. */
  readonly id: string
  readonly effect: 'allow' | 'deny'
  readonly subject: SubjectKind | '*'
  readonly repositoryId: number | '*'
  /** A permission of a GitHub App, `organization_*` for all permissions on the organisation itself, or `*`. */
  readonly permission: string
  /** An allowing rule reaches up to this level, a denying one from this level on. */
  readonly level: AccessLevel
}

/** What `organization_*` stands for. */
export const organizationFamily = 'organization_*'

/** The family a permission belongs to, or itself. */
export function familyOf(permission: string): string {
  return permission.startsWith('organization_') ? organizationFamily : permission
}

const readable = ['actions', 'checks', 'contents', 'deployments', 'issues', 'metadata', 'pull_requests', 'statuses']
const reportable = ['checks', 'deployments', 'issues', 'pull_requests', 'statuses']
const reporters: readonly SubjectKind[] = ['RemoteSync', 'AppPipeline']

const everywhere = { subject: '*', repositoryId: '*' } as const

/** Used until tenants and platform admins can write their own. */
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
