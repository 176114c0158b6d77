// Wires the Application controller: what it caches and what wakes it. Decides nothing.

import { appSecret } from '../../api/apps/app-secret.ts'
import { namedDomains } from '../../api/apps/application/domains.ts'
import { type Application, application } from '../../api/apps/application.ts'
import { applicationChart } from '../../api/apps/application-chart.ts'
import { type Release, release } from '../../api/apps/release.ts'
import { applicationsOf } from '../../api/apps/remote-sync/applications.ts'
import { type RemoteSync, remoteSync } from '../../api/apps/remote-sync.ts'
import {
  cronJobs,
  deployments,
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalers,
  hostsOfIngress,
  ingresses,
  jobs,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  services,
} from '../../api/builtin/index.ts'
import { type Halt, halt } from '../../api/github/halt.ts'
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import { labels, platformNamespace } from '../../api/names.ts'
import { problemFields } from '../../api/pods/pod-problem.ts'
import { keyOf, keyText, type ObjectKey } from '../../api/resource.ts'
import { serviceBinding } from '../../api/services/service-binding.ts'
import { domainClaim } from '../../api/tenancy/domain-claim.ts'
import { type Tenant, tenant } from '../../api/tenancy/tenant.ts'
import { type ControllerDefinition, type Watch, watches } from '../../kube/controller/controller.ts'
import { partChanged } from '../../kube/controller/predicates.ts'
import type { Manager } from '../../kube/manager.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import { controllingKey } from '../../kube/object/owner.ts'
import type { ChartRenderer } from '../../services/charts/renderer.ts'
import type { FollowedTags } from '../../services/followed-tags/open.ts'
import { reportInStatus, withMissingRights } from '../kit/missing-right.ts'
import { createStatusWriter } from '../kit/status-writer.ts'
import {
  type ApplicationCaches,
  addApplicationIndexes,
  applicationSelector,
  cachesOf,
  chartIndex,
  foreign,
  hostIndex,
  labelled,
  secretIndex,
  tagIndex,
} from './caches.ts'
import { type ChangePace, createChangePace } from './change-pace.ts'
import { type IngressAddress, wantedHosts } from './domains/hosts.ts'
import type { ImageRegistry } from './facts.ts'
import { fieldManager } from './field-manager.ts'
import { imageStandOf } from './image/missing-image.ts'
import { createImageContentsReader, type ImageContentsReader, type ImageReader } from './image/read-contents.ts'
import { type ApplicationDeps, reconcileApplication } from './reconcile.ts'
import { createKnownLogins } from './releases/known-logins.ts'
import { createSnapshots } from './releases/snapshots.ts'
import { createManifestSource } from './rendering/manifest-source.ts'
import { measuredOf } from './rollout/autoscaling.ts'
import { serviceWatches } from './services/service-watches.ts'

export type ApplicationControllerDeps = Pick<
  ApplicationDeps,
  'platformNamespace' | 'ingress' | 'reservedHosts' | 'redirectAnnotations' | 'certificateIssuers' | 'proofs' | 'clock'
> & {
  readonly registry: ImageRegistry & Pick<ImageReader, 'labelsOf'>
  /** Default: no tag is followed. */
  readonly tags?: FollowedTags
  /** Default: that of `createChangePace`. */
  readonly changePace?: ChangePace
  readonly renderer: Pick<ChartRenderer, 'render'>
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
}

/** By the label, which only the platform sets: pods, and volume claims that have no owner. */
function applicationOf({ metadata }: Pod | PersistentVolumeClaim): readonly ObjectKey[] {
  const { namespace } = metadata
  const name = metadata.labels?.[labels.application]
  return namespace === undefined || name === undefined ? [] : [{ namespace, name }]
}

function applicationOfAutoscaler(autoscaler: HorizontalPodAutoscaler): readonly ObjectKey[] {
  const key = controllingKey(autoscaler, application)
  return key === undefined ? [] : [key]
}

/** Its measurements, which change all the time, decide nothing here: only whether there are any. */
function autoscalerFields(autoscaler: HorizontalPodAutoscaler): unknown {
  const { annotations, labels: given, ownerReferences, deletionTimestamp } = autoscaler.metadata
  return [annotations, given, ownerReferences, deletionTimestamp, autoscaler.spec, measuredOf(autoscaler)]
}

const noTags: FollowedTags = {
  registries: [],
  onChange: () => {},
  stateOf: () => ({ digest: undefined, problem: 'is not asked', requeueAfterMilliseconds: 600_000 }),
}

/** Everything that a decision is made from, except what an Application owns. */
function watchesOf(
  caches: ApplicationCaches,
  ingress: IngressAddress,
  { tags, images }: { readonly tags: FollowedTags; readonly images: ImageContentsReader },
): readonly Watch[] {
  const later = { initial: false }
  const wanting = (hosts: readonly string[]): readonly Application[] =>
    hosts.flatMap(host => caches.applications.byIndex(hostIndex, host))
  const sharesHost = (changed: Application): readonly ObjectKey[] =>
    wanting(wantedHosts(changed, ingress))
      .filter(other => other.metadata.uid !== changed.metadata.uid)
      .map(keyOf)
  const ofTenant = ({ status }: Tenant): readonly Application[] =>
    caches.applications.list().filter(({ metadata }) => metadata.namespace === status?.namespace)
  /** All that a Halt may be about: gather decides which are. */
  const within = ({ metadata: { namespace }, spec }: Halt): readonly ObjectKey[] =>
    spec.workloads === 'Keep'
      ? []
      : caches.applications
          .list()
          .filter(({ metadata }) => namespace === platformNamespace || metadata.namespace === namespace)
          .map(keyOf)
  const boundTo = ({ metadata: { namespace = '' }, status }: RepositoryGrant): readonly ObjectKey[] =>
    (status?.applications ?? []).map(({ name }) => ({ namespace, name }))
  const withoutImage = ({ metadata, spec }: RemoteSync): readonly ObjectKey[] => {
    const { namespace = '' } = metadata
    const found = applicationsOf(spec).flatMap(name => caches.applications.get({ namespace, name }) ?? [])
    return found.filter(one => one.spec.image === undefined).map(keyOf)
  }
  const withDomains = (all: readonly Application[]) => all.filter(({ spec }) => spec.domains !== undefined)
  return [
    watches(applicationChart, chart => caches.applications.byIndex(chartIndex, chart.metadata.name).map(keyOf)),
    watches(application, sharesHost, { predicate: partChanged(changed => namedDomains(changed.spec)) }),
    // Every input of the decision about hosts: claims, Ingresses of others, and whether the Tenant is ready.
    watches(domainClaim, ({ spec }) => wanting([spec.host]).map(keyOf)),
    watches(ingresses, ingress => wanting(hostsOfIngress(ingress)).map(keyOf), {
      ...foreign,
      predicate: partChanged(hostsOfIngress),
    }),
    watches(appSecret, changed => caches.applications.byIndex(secretIndex, keyText(keyOf(changed))).map(keyOf), {
      predicate: partChanged(({ metadata, status }) => [metadata.uid, metadata.deletionTimestamp, status?.version, status?.keys]),
    }),
    ...serviceWatches(caches),
    watches(tenant, changed => withDomains(ofTenant(changed)).map(keyOf), {
      predicate: partChanged(({ metadata, status }) => [metadata.uid, status?.namespace]),
    }),
    watches(halt, within, { predicate: partChanged(({ metadata, spec }) => [metadata.deletionTimestamp, spec.lifted]) }),
    watches(tenant, changed => ofTenant(changed).map(keyOf), { predicate: partChanged(({ status }) => status?.runtimeClasses) }),
    watches(horizontalPodAutoscalers, applicationOfAutoscaler, { ...labelled, predicate: partChanged(autoscalerFields) }),
    watches(persistentVolumeClaims, applicationOf, labelled),
    // The account of its pods comes and goes with the grants that are bound to it.
    watches(repositoryGrant, boundTo, {
      predicate: partChanged(({ metadata, status }) => [metadata.deletionTimestamp, status?.applications]),
    }),
    // What builds the image, until there is one.
    watches(remoteSync, withoutImage, { predicate: partChanged(imageStandOf) }),
    watches(pods, applicationOf, { ...labelled, predicate: partChanged(problemFields) }),
    // Answers of registries about followed tags and images.
    {
      attach: (_source, enqueue) =>
        tags.onChange(name => {
          for (const follower of caches.applications.byIndex(tagIndex, name)) enqueue(keyOf(follower), later)
        }),
    },
    { attach: (_source, enqueue) => images.onRead(key => enqueue(key, later)) },
  ]
}

/** Call before the manager starts: caches and indexes cannot be added later. */
export function createApplicationController(deps: ApplicationControllerDeps): ControllerDefinition {
  const { manager, platformNamespace } = deps
  const caches = cachesOf(manager, platformNamespace)
  addApplicationIndexes(caches, deps.ingress)
  const { client } = manager
  const status = createStatusWriter({
    type: application,
    fieldManager,
    client,
    cache: caches.applications,
    events: deps.events,
  })
  const outcomes = createStatusWriter<NonNullable<Release['status']>, Release>({
    type: release,
    fieldManager,
    client,
    cache: manager.cache(release, labelled),
    events: deps.events,
    // The Application's own Events say it.
    eventsOn: [],
  })
  const { changePace = createChangePace(deps.clock), tags = noTags } = deps
  const images = createImageContentsReader(deps.registry, deps.clock)
  const all: ApplicationDeps = {
    ...deps,
    changePace,
    tags,
    client,
    caches,
    status,
    outcomes,
    images,
    manifests: createManifestSource(deps.renderer),
    snapshots: createSnapshots(client),
    knownLogin: createKnownLogins(caches.grants),
  }
  const definition: ControllerDefinition = {
    name: 'application',
    for: application,
    // A reconcile spends most of its time waiting for the API server.
    concurrency: 10,
    // What each writes makes the API server and its controllers work several times as long: a tenant that changes all its
    // Applications at once would keep all other tenants waiting.
    perTenant: 2,
    owns: [deployments, services, ingresses, cronJobs, jobs, release, serviceBinding],
    ownsLabelSelector: applicationSelector,
    watches: watchesOf(caches, deps.ingress, { tags, images }),
    reconcile: context => reconcileApplication(all, context),
  }
  return withMissingRights(definition, {
    cache: caches.applications,
    says: reportInStatus(status, deps.clock),
    clock: deps.clock,
  })
}
