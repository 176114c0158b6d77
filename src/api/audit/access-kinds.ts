// The kinds whose objects decide who has access, and which of their changes are recorded with the user (access.changing). A new
// kind that gives or ends access is one line. Data only.
import { appPipeline } from '../apps/app-pipeline.ts'
import { previewApproval } from '../apps/preview-approval.ts'
import { remoteSync } from '../apps/remote-sync.ts'
import { clusterGitHubApp } from '../github/cluster-github-app.ts'
import { grantApproval } from '../github/grant-approval.ts'
import { installation } from '../github/installation.ts'
import { repositoryGrant } from '../github/repository-grant.ts'
import type { ResourceType } from '../resource.ts'
import { tenant } from '../tenancy/tenant.ts'

export type AccessOperation = 'CREATE' | 'UPDATE' | 'DELETE'

export type AccessKind = {
  readonly type: ResourceType
  /** UPDATE counts where it changes `spec`. */
  readonly operations: readonly AccessOperation[]
}

const anyChange: readonly AccessOperation[] = ['CREATE', 'UPDATE', 'DELETE']
/** Their spec cannot change, and who made them is in it: `requestedBy`, `boundBy`, `decidedBy`. */
const end: readonly AccessOperation[] = ['DELETE']
/** Of their spec a part can change, and who made them is in it: the stand-ins of an Installation. */
const changeAndEnd: readonly AccessOperation[] = ['UPDATE', 'DELETE']

export const accessKinds: readonly AccessKind[] = [
  { type: tenant, operations: anyChange },
  { type: clusterGitHubApp, operations: anyChange },
  { type: installation, operations: changeAndEnd },
  { type: repositoryGrant, operations: end },
  { type: grantApproval, operations: end },
  { type: previewApproval, operations: end },
  // They own grants, which end with them.
  { type: remoteSync, operations: end },
  { type: appPipeline, operations: end },
]
