// Wires the DomainClaim controller: Applications, their Ingresses and Tenants wake the claims that concern them. Decides nothing.
import { namedDomains } from '../../api/apps/application/domains.ts'
import { type Application, application } from '../../api/apps/application.ts'
import { hostsOfIngress, ingresses } from '../../api/builtin/index.ts'
import { labels } from '../../api/names.ts'
import { keyOf, type ObjectKey } from '../../api/resource.ts'
import { domainClaim } from '../../api/tenancy/domain-claim.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { createStatusWriter } from '../kit/status-writer.ts'
import { domainIndex } from './gather.ts'
import { fieldManager, reconcileDomainClaim } from './reconcile.ts'

export type DomainClaimControllerDeps = {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
  readonly clock: Clock
}

const tenantIndex = 'domain-claim/tenant'

/** Call before the manager starts: caches and indexes cannot be added later. */
export function createDomainClaimController({ manager, events, clock }: DomainClaimControllerDeps): ControllerDefinition {
  const labelled = { labelSelector: labels.application }
  const claims = manager.cache(domainClaim)
  const caches = {
    tenants: manager.cache(tenant),
    applications: manager.cache(application),
    ingresses: manager.cache(ingresses, labelled),
  }
  const domainsOf = ({ spec }: Application): readonly string[] => namedDomains(spec)
  caches.applications.addIndex(domainIndex, domainsOf)
  caches.ingresses.addIndex(domainIndex, hostsOfIngress)
  claims.addIndex(tenantIndex, ({ spec }) => [spec.tenant.name])
  const claimsOn = (hosts: readonly string[]): readonly ObjectKey[] =>
    hosts.filter(name => claims.get({ name }) !== undefined).map(name => ({ name }))
  const { client } = manager
  const status = createStatusWriter({ type: domainClaim, fieldManager, client, cache: claims, events })
  return {
    name: 'domain-claim',
    for: domainClaim,
    watches: [
      watches(application, changed => claimsOn(domainsOf(changed)), { predicate: partChanged(domainsOf) }),
      watches(ingresses, changed => claimsOn(hostsOfIngress(changed)), { ...labelled, predicate: partChanged(hostsOfIngress) }),
      watches(tenant, ({ metadata }) => claims.byIndex(tenantIndex, metadata.name).map(keyOf), {
        predicate: partChanged(({ metadata }) => metadata.uid),
      }),
    ],
    reconcile: context => reconcileDomainClaim({ ...caches, claims, client, status, clock }, context),
  }
}
