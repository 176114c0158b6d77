// Wires the controller of GrantApprovals: it reports whether an answer counts, and deletes what can count for nothing any more.
// The RepositoryGrant controller decides by the answers, with the same function.
import { type GrantApproval, grantApproval } from '../../api/github/grant-approval.ts'
import { type Halt, halt } from '../../api/github/halt.ts'
import { installation } from '../../api/github/installation.ts'
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import { platformNamespace } from '../../api/names.ts'
import { keyOf, type ObjectKey } from '../../api/resource.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { answersByGrant, grantOfAnswer } from '../kit/answers-by-grant.ts'
import { createStatusWriter } from '../kit/status-writer.ts'
import { reconcileGrantApproval } from './reconcile.ts'

export type GrantApprovalControllerDeps = {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
  readonly clock: Clock
}

const fieldManager = 'sekisho.dev/grant-approval'

/** Call before the manager starts: caches and indexes cannot be added later. */
export function createGrantApprovalController({ manager, events, clock }: GrantApprovalControllerDeps): ControllerDefinition {
  const { client } = manager
  const approvals = manager.cache(grantApproval)
  const grants = manager.cache(repositoryGrant)
  const installations = manager.cache(installation)
  const halts = manager.cache(halt)
  const status = createStatusWriter({ type: grantApproval, fieldManager, client, cache: approvals, events })
  const answersTo = answersByGrant(approvals)
  const ofGrant = (grant: RepositoryGrant): readonly ObjectKey[] => answersTo(keyOf(grant)).map(keyOf)
  const ofHalt = ({ metadata: { namespace } }: Halt): readonly ObjectKey[] =>
    approvals.list(namespace === platformNamespace ? undefined : namespace).map(keyOf)
  const whose = ({ metadata }: RepositoryGrant | GrantApproval): unknown => [metadata.uid, metadata.deletionTimestamp]
  return {
    name: 'grant-approval',
    for: grantApproval,
    watches: [
      // A newer answer of the same person takes the place of the others.
      watches(grantApproval, approval => answersTo(grantOfAnswer(approval)).map(keyOf), { predicate: partChanged(whose) }),
      watches(repositoryGrant, ofGrant, { predicate: partChanged(grant => [whose(grant), grant.status?.endedApprovals]) }),
      watches(installation, ({ metadata }) => approvals.list(metadata.namespace).map(keyOf), {
        predicate: partChanged(({ spec }) => spec.account.host),
      }),
      watches(halt, ofHalt, { predicate: partChanged(({ metadata, spec }) => [metadata.deletionTimestamp, spec.lifted]) }),
    ],
    reconcile: ({ key }) =>
      reconcileGrantApproval({ client, approvals, grants, installations, halts, answersTo, status, events, clock }, key),
  }
}
