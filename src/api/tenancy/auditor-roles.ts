// The roles of auditors as data (docs/adr/0083): they read the audit log and the objects that decide about access, and nothing
// else: no Secret, no pod, no log of an application, no write.

import { previewApproval } from '../apps/preview-approval.ts'
import { auditCheckpoints, auditReading } from '../audit/audit-access.ts'
import { clusterGitHubApp } from '../github/cluster-github-app.ts'
import { grantApproval } from '../github/grant-approval.ts'
import { clusterGrantPolicy, grantPolicy } from '../github/grant-policy.ts'
import { halt } from '../github/halt.ts'
import { installation } from '../github/installation.ts'
import { repositoryGrant } from '../github/repository-grant.ts'
import type { ResourceType } from '../resource.ts'
import { domainClaim } from './domain-claim.ts'
import { tenant } from './tenant.ts'

type AuditorRule = {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

/** The kinds that decide who has access. A new one is one word. */
const decisions: readonly ResourceType[] = [
  tenant,
  domainClaim,
  clusterGitHubApp,
  installation,
  repositoryGrant,
  grantApproval,
  grantPolicy,
  clusterGrantPolicy,
  halt,
  previewApproval,
]

const reading: AuditorRule = { apiGroups: [auditReading.group], resources: [auditReading.resource], verbs: [auditReading.verb] }

function reads(types: readonly ResourceType[]): readonly AuditorRule[] {
  const groupOf = ({ apiVersion }: ResourceType): string => apiVersion.split('/')[0] ?? ''
  return [...Map.groupBy(types, groupOf)].map(([group, same]) => ({
    apiGroups: [group],
    resources: same.map(({ plural }) => plural),
    verbs: ['get', 'list', 'watch'],
  }))
}

/** What an auditor of a tenant has in its namespace. */
export const tenantAuditorRules: readonly AuditorRule[] = [reading, ...reads(decisions.filter(({ namespaced }) => namespaced))]

/** The ConfigMap with the signed checkpoints, which auditors and admins of the platform compare the log with. */
export const checkpointsRule = {
  apiGroups: [''],
  resources: ['configmaps'],
  resourceNames: [auditCheckpoints],
  verbs: ['get'],
} as const satisfies AuditorRule

/** What an auditor of the platform has in the cluster. */
export const auditorRules: readonly AuditorRule[] = [reading, ...reads(decisions), checkpointsRule]
