// Wires the Halt controller: a grant that is decided, or made, wakes the Halts that are about it. Decides nothing.
import { halt } from '../../api/github/halt.ts'
import { installation } from '../../api/github/installation.ts'
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import { keyOf } from '../../api/resource.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { stands } from '../../policy/halt.ts'
import { reportInStatus, withMissingRights } from '../kit/missing-right.ts'
import { createStatusWriter } from '../kit/status-writer.ts'
import { tenantsByNamespace } from '../kit/tenants-by-namespace.ts'
import { isAboutGrant } from './gather.ts'
import { type HaltDeps, reconcileHalt } from './reconcile.ts'

export type HaltControllerDeps = Pick<HaltDeps, 'tokens' | 'desk' | 'audit' | 'clock' | 'log'> & {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
}

/** Call before the manager starts: caches cannot be added later. */
export function createHaltController(deps: HaltControllerDeps): ControllerDefinition {
  const { manager, events, clock } = deps
  const { client } = manager
  const halts = manager.cache(halt)
  const tenants = manager.cache(tenant)
  const tenantsIn = tenantsByNamespace(tenants)
  const caches = {
    halts,
    tenants,
    grants: manager.cache(repositoryGrant),
    installations: manager.cache(installation),
    tenantOf: (namespace: string) => tenantsIn(namespace)[0],
  }
  const fieldManager = 'sekisho.dev/halt'
  const status = createStatusWriter({ type: halt, fieldManager, client, cache: halts, events })
  const decided = ({ metadata, status: of }: RepositoryGrant): unknown => [metadata.uid, of?.decision, of?.repositories]
  const about = (grant: RepositoryGrant) => halts.list().filter(one => stands(one) && isAboutGrant(caches, one, grant))
  const definition: ControllerDefinition = {
    name: 'halt',
    for: halt,
    watches: [watches(repositoryGrant, grant => about(grant).map(keyOf), { predicate: partChanged(decided) })],
    reconcile: context => reconcileHalt({ ...deps, ...caches, client, status }, context),
  }
  return withMissingRights(definition, { cache: halts, says: reportInStatus(status, clock), clock })
}
