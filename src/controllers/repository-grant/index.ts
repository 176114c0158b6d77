// Wires the RepositoryGrant controller: an Installation that becomes ready, stops being ready or changes wakes the grants under
// it, a Halt or a policy those that it may be about. Decides nothing.
import { type Application, application } from '../../api/apps/application.ts'
import { grantApproval } from '../../api/github/grant-approval.ts'
import { type ClusterGrantPolicy, clusterGrantPolicy, type GrantPolicy, grantPolicy } from '../../api/github/grant-policy.ts'
import { type Halt, halt } from '../../api/github/halt.ts'
import { type Installation, installation } from '../../api/github/installation.ts'
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import { platformNamespace } from '../../api/names.ts'
import { keyOf, keyText, type ObjectKey } from '../../api/resource.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { answersByGrant, grantOfAnswer } from '../kit/answers-by-grant.ts'
import { createInStep } from '../kit/in-step.ts'
import { reportInStatus, withMissingRights } from '../kit/missing-right.ts'
import { createStatusWriter } from '../kit/status-writer.ts'
import { tenantsByNamespace } from '../kit/tenants-by-namespace.ts'
import { applicationNames } from './applications.ts'
import { defaultRecheckTimes, installationInputs, type RecheckTimes } from './decision-inputs.ts'
import { createKnownPolicies } from './policies/known-policies.ts'
import { createProbeBudget } from './probe-budget.ts'
import { type RepositoryGrantDeps, reconcileRepositoryGrant } from './reconcile.ts'

export type RepositoryGrantControllerDeps = Omit<
  RepositoryGrantDeps,
  | 'grants'
  | 'status'
  | 'installations'
  | 'halts'
  | 'applications'
  | 'policiesOf'
  | 'approvalsOf'
  | 'tenantOf'
  | 'tenantsIn'
  | 'recheck'
  | 'budget'
  | 'inStep'
> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly recheck?: RecheckTimes
}

const byInstallation = 'repository-grant/by-installation'
const byApplication = 'repository-grant/by-application'

/** Call before the manager starts: caches and indexes cannot be added later. */
export function createRepositoryGrantController(deps: RepositoryGrantControllerDeps): ControllerDefinition {
  const { manager, recheck = defaultRecheckTimes } = deps
  const grants = manager.cache(repositoryGrant)
  const installations = manager.cache(installation)
  const halts = manager.cache(halt)
  const policiesOf = createKnownPolicies({
    policies: manager.cache(grantPolicy),
    clusterPolicies: manager.cache(clusterGrantPolicy),
  })
  const answersTo = answersByGrant(manager.cache(grantApproval))
  const approvalsOf = (grant: RepositoryGrant) => answersTo(keyOf(grant))
  const applications = manager.cache(application)
  const tenantsIn = tenantsByNamespace(manager.cache(tenant))
  const tenantOf = (namespace: string) => tenantsIn(namespace)[0]
  const { client } = manager
  const budget = createProbeBudget(deps.clock)
  const inStep = createInStep()
  const fieldManager = 'sekisho.dev/repository-grant'
  const { events } = deps
  const eventsOn = ['Ready', 'Delivered']
  const status = createStatusWriter({ type: repositoryGrant, fieldManager, client, cache: grants, events, eventsOn })
  grants.addIndex(byInstallation, ({ metadata, spec }) => [
    keyText({ namespace: metadata.namespace ?? '', name: spec.installation }),
  ])
  grants.addIndex(byApplication, grant =>
    applicationNames(grant).map(name => keyText({ namespace: grant.metadata.namespace ?? '', name })),
  )
  const deciding = ({ metadata, spec }: Application): unknown => [
    metadata.uid,
    metadata.deletionTimestamp,
    spec.isolated === true,
  ]
  const inputs = (object: Installation): unknown => [
    object.metadata.deletionTimestamp,
    findCondition(object.status?.conditions, 'Ready')?.status,
    installationInputs(object),
  ]
  const standing = ({ metadata, spec, status: of }: Halt): unknown => [metadata.deletionTimestamp, spec.lifted, of?.subject]
  /** All that a Halt may be about: which of them are is decided for each. */
  const within = ({ metadata: { namespace } }: Halt): readonly ObjectKey[] =>
    grants
      .list()
      .filter(grant => namespace === platformNamespace || grant.metadata.namespace === namespace)
      .map(keyOf)
  const said = ({ metadata, spec }: GrantPolicy | ClusterGrantPolicy): unknown => [metadata.uid, spec]
  const definition: ControllerDefinition = {
    name: 'repository-grant',
    for: repositoryGrant,
    watches: [
      watches(installation, object => grants.byIndex(byInstallation, keyText(keyOf(object))).map(keyOf), {
        predicate: partChanged(inputs),
      }),
      watches(application, object => grants.byIndex(byApplication, keyText(keyOf(object))).map(keyOf), {
        predicate: partChanged(deciding),
      }),
      watches(halt, within, { predicate: partChanged(standing) }),
      watches(grantPolicy, ({ metadata }) => grants.list(metadata.namespace).map(keyOf), { predicate: partChanged(said) }),
      // Its status is from the grant.
      watches(grantApproval, approval => [grantOfAnswer(approval)], {
        predicate: partChanged(({ metadata }) => [metadata.uid, metadata.deletionTimestamp]),
      }),
      watches(clusterGrantPolicy, () => grants.list().map(keyOf), { predicate: partChanged(said) }),
    ],
    reconcile: context =>
      reconcileRepositoryGrant(
        {
          ...{ ...deps, budget, inStep, grants, status, installations, halts, applications },
          ...{ policiesOf, approvalsOf, tenantOf, tenantsIn, recheck },
        },
        context,
      ),
  }
  return withMissingRights(definition, { cache: grants, says: reportInStatus(status, deps.clock), clock: deps.clock })
}
