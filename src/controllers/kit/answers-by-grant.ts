// The GrantApprovals that name a grant, by one index that both controllers which read them share.
import type { GrantApproval } from '../../api/github/grant-approval.ts'
import { keyText, type ObjectKey } from '../../api/resource.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'

/** By the namespace and the name of a RepositoryGrant. */
export type AnswersByGrant = (grant: ObjectKey) => readonly GrantApproval[]

const name = 'grant-approval/by-grant'

/** The RepositoryGrant that an answer names. */
export function grantOfAnswer({ metadata: { namespace = '' }, spec }: GrantApproval): ObjectKey {
  return { namespace, name: spec.grant.name }
}

const grantText = (approval: GrantApproval): readonly string[] => [keyText(grantOfAnswer(approval))]

/** Call before the manager starts. */
export function answersByGrant(approvals: Pick<Cache<GrantApproval>, 'addIndex' | 'byIndex'>): AnswersByGrant {
  approvals.addIndex(name, grantText)
  return grant => approvals.byIndex(name, keyText(grant))
}
