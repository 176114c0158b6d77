// What is said of the token of a grant that is delivered as a Secret, and what to do where there is none. Pure.
import { type RepositoryGrant, repositoryGrantReasons as reasons } from '../../../api/github/repository-grant.ts'
import type { Condition } from '../../../api/resource.ts'
import { findCondition } from '../../../kube/object/conditions.ts'

const again = 'the platform then tries again by itself'

const cures: Readonly<Record<string, string>> = {
  [reasons.nameTaken]: `a platform admin deletes the Secret that has the name (kubectl delete secret); ${again}`,
  [reasons.subjectNotFound]: `kubectl create serviceaccount makes it; ${again}`,
  [reasons.tokenNotIssued]:
    'the platform tries again; sekisho audit shows what was refused, docs/guide/tokens.md what each refusal means',
  [reasons.refusedByCluster]: `make room in the quota, or ask a platform admin; ${again}`,
}

/** The condition `Delivered`; undefined of a grant with another delivery, and before the first look. */
export function deliveredOf({ spec, status }: RepositoryGrant): Condition | undefined {
  return spec.delivery === 'Secret' ? findCondition(status?.conditions, 'Delivered') : undefined
}

/** Who does what; undefined where the token is delivered. */
export function deliveredCure(delivered: Condition | undefined): string | undefined {
  return delivered === undefined || delivered.status === 'True' ? undefined : cures[delivered.reason]
}
