// Who reads the audit log: what RBAC is asked, and what a program's token must say. Data only.
import { domain } from '../kind.ts'

/**
 * Who may read the audit log: whoever RBAC allows this, in the whole cluster or in the namespace of a tenant. The resource has
 * no objects; the roles of auditors, platform admins and admins of tenants contain the rule, cluster administrators by `*`.
 */
export const auditReading = { group: domain, resource: 'auditentries', verb: 'list' } as const

/** The audience that a ServiceAccount's token must have to read the audit log. No other endpoint takes it. */
export const auditAudience = 'sekisho-audit'

/** The ClusterRole of auditors of the platform (deploy/rbac/auditor.yaml). */
export const auditorRole = 'sekisho:auditor'

/** The ConfigMap of the platform with the signed checkpoints of the log. */
export const auditCheckpoints = 'sekisho-audit-checkpoints'
