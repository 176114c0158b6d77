// Wires the Application controller: what it caches and what wakes it. Decides nothing.
import { type Application, application, applicationReasons } from '../../api/apps/application.ts'
import { applicationChart } from '../../api/apps/application-chart.ts'
import { configMaps, deployments, ingresses, type Pod, pods, services } from '../../api/builtin/index.ts'
import { labels } from '../../api/names.ts'
import { keyOf, type ObjectKey } from '../../api/resource.ts'
import { domainClaim } from '../../api/tenancy/domain-claim.ts'
import { type Tenant, tenant } from '../../api/tenancy/tenant.ts'
import type { ChartRenderer } from '../../charts/renderer.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { createStatusWriter } from '../status-writer.ts'
import { type ChangePace, createChangePace } from './change-pace.ts'
import {
  type ApplicationCaches,
  addApplicationIndexes,
  applicationSelector,
  chartIndex,
  foreignSelector,
  hostIndex,
} from './gather.ts'
import { hostsOf, hostsOfIngress } from './hosts.ts'
import { fieldManager } from './objects/apply-objects.ts'
import { createManifestSource } from './objects/manifest-source.ts'
import { type ApplicationDeps, reconcileApplication } from './reconcile.ts'
import { problemFields } from './rollout/pod-problem.ts'

export type ApplicationControllerDeps = Omit<ApplicationDeps, 'caches' | 'status' | 'client' | 'manifests' | 'changePace'> & {
  /** Default: that of `createChangePace`. */
  readonly changePace?: ChangePace
  readonly renderer: Pick<ChartRenderer, 'render'>
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
}

function applicationOfPod(pod: Pod): readonly ObjectKey[] {
  const { namespace } = pod.metadata
  const name = pod.metadata.labels?.[labels.application]
  return namespace === undefined || name === undefined ? [] : [{ namespace, name }]
}

/** Call before the manager starts: caches and indexes cannot be added later. */
export function createApplicationController(deps: ApplicationControllerDeps): ControllerDefinition {
  const { manager, platformNamespace } = deps
  const labelled = { labelSelector: applicationSelector }
  const foreign = { labelSelector: foreignSelector }
  const caches: ApplicationCaches = {
    applications: manager.cache(application),
    charts: manager.cache(applicationChart),
    configMaps: manager.cache(configMaps, { namespace: platformNamespace }),
    deployments: manager.cache(deployments, labelled),
    services: manager.cache(services, labelled),
    ingresses: manager.cache(ingresses, labelled),
    pods: manager.cache(pods, labelled),
    tenants: manager.cache(tenant),
    claims: manager.cache(domainClaim),
    foreignIngresses: manager.cache(ingresses, foreign),
  }
  addApplicationIndexes(caches, deps.ingress)
  const wanting = (hosts: readonly string[]): readonly Application[] =>
    hosts.flatMap(host => caches.applications.byIndex(hostIndex, host))
  const sharesHost = (changed: Application): readonly ObjectKey[] =>
    wanting(hostsOf(changed, deps.ingress))
      .filter(other => other.metadata.uid !== changed.metadata.uid)
      .map(keyOf)
  const ofTenant = ({ status }: Tenant): readonly ObjectKey[] =>
    caches.applications
      .list()
      .filter(({ metadata, spec }) => metadata.namespace === status?.namespace && spec.domains !== undefined)
      .map(keyOf)
  const { client } = manager
  const status = createStatusWriter({
    type: application,
    fieldManager,
    client,
    cache: caches.applications,
    events: deps.events,
    normalReasons: [applicationReasons.waitingForImage, applicationReasons.rollingOut],
  })
  const { changePace = createChangePace(deps.clock) } = deps
  const all: ApplicationDeps = { ...deps, changePace, client, caches, status, manifests: createManifestSource(deps.renderer) }
  return {
    name: 'application',
    for: application,
    // A reconcile spends most of its time waiting for the API server.
    concurrency: 10,
    owns: [deployments, services, ingresses],
    ownsLabelSelector: applicationSelector,
    watches: [
      watches(applicationChart, chart => caches.applications.byIndex(chartIndex, chart.metadata.name).map(keyOf)),
      watches(application, sharesHost, { predicate: partChanged(changed => changed.spec.domains) }),
      // Every input of the decision about hosts: claims, Ingresses of others, and whether the Tenant is ready.
      watches(domainClaim, ({ spec }) => wanting([spec.host]).map(keyOf)),
      watches(ingresses, ingress => wanting(hostsOfIngress(ingress)).map(keyOf), {
        ...foreign,
        predicate: partChanged(hostsOfIngress),
      }),
      watches(tenant, ofTenant, { predicate: partChanged(({ metadata, status }) => [metadata.uid, status?.namespace]) }),
      watches(pods, applicationOfPod, { ...labelled, predicate: partChanged(problemFields) }),
    ],
    reconcile: context => reconcileApplication(all, context),
  }
}
