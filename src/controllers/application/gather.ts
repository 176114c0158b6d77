// Reads everything that an Application's reconcile needs to know, from caches only, into one value. Never writes, never throws
// on absence. It runs for each Application on each wake: index look-ups only, never a whole list.

import { applicationAccount } from '../../api/application-account.ts'
import { usedSecrets } from '../../api/apps/application/secret-uses.ts'
import { type Application, application as applications } from '../../api/apps/application.ts'
import type { ReleaseHeader } from '../../api/apps/release.ts'
import type { Ingress } from '../../api/builtin/index.ts'
import { optInDelivery } from '../../api/github/repository-grant/delivery.ts'
import { platformNamespace } from '../../api/names.ts'
import { tokenSecretName } from '../../api/reserved-secrets.ts'
import type { ObjectKey } from '../../api/resource.ts'
import { controllingKey } from '../../kube/object/owner.ts'
import { defined } from '../../lib/json/defined.ts'
import { compareText } from '../../lib/text/compare-text.ts'
import { haltOf } from '../../policy/halt.ts'
import { findChartSource } from '../../services/charts/chart-source.ts'
import type { FollowedTags } from '../../services/followed-tags/open.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import {
  type ApplicationCaches,
  applicationIndex,
  cachedKinds,
  followingIndex,
  grantIndex,
  haltIndex,
  hostIndex,
  jobIndex,
  jobOfPod,
  namespaceIndex,
  ownerIndex,
  syncIndex,
} from './caches.ts'
import { type HostFacts, type IngressAddress, wantedHosts } from './domains/hosts.ts'
import type { RedirectAnnotations } from './domains/redirects.ts'
import type { Facts, ImageRegistry } from './facts.ts'
import { byDigest, followedOf } from './image/followed-tag.ts'
import type { ImageContentsReader } from './image/read-contents.ts'
import { entryOf, entryText, union } from './objects/inventory.ts'
import type { ReleaseFacts } from './releases/release-content.ts'
import { releaseOfJob } from './releases/release-job.ts'
import type { PodAccount } from './rendering/account.ts'
import { isKeptClaimOf } from './rendering/volume-claim-rules.ts'
import { type SecretFacts, secretVersions } from './secrets/secret-checks.ts'
import { serviceVersions } from './services/service-checks.ts'
import { serviceFacts } from './services/service-facts.ts'

export type GatherDeps = {
  readonly caches: ApplicationCaches
  readonly platformNamespace: string
  readonly ingress: IngressAddress
  readonly reservedHosts: readonly string[]
  readonly redirectAnnotations: RedirectAnnotations
  readonly registry: ImageRegistry
  readonly images: ImageContentsReader
  readonly tags: FollowedTags
  readonly certificateIssuers: readonly string[]
  readonly status: Pick<StatusWriter<Application>, 'latest'>
}

/** Undefined when the cache has no such Application. */
export function gather(deps: GatherDeps, key: ObjectKey): Facts | undefined {
  const { caches, tags, registry } = deps
  const cached = caches.applications.get(key)
  if (cached === undefined) return undefined
  const application = deps.status.latest(cached)
  const following = caches.applications.byIndex(followingIndex, key.namespace ?? '')
  const [newest] = releaseHeaders(caches, application)
  const followed = followedOf(application, { tags, place: registry.place, following, newest })
  const wanted = haltedAtZero(caches, byDigest(application, followed))
  return { ...factsOf(deps, wanted), ...defined({ followed }) }
}

/** As if somebody had suspended it, while a Halt of its tenant says that nothing shall run. */
function haltedAtZero(caches: ApplicationCaches, application: Application): Application {
  const { namespace = '' } = application.metadata
  const [tenant] = caches.tenants.byIndex(namespaceIndex, namespace)
  const halts = [platformNamespace, namespace].flatMap(place => caches.halts.byIndex(haltIndex, place))
  const atZero = halts.filter(({ spec }) => spec.workloads === 'ScaleToZero')
  const found = haltOf(atZero, { namespace, tenant: tenant?.metadata.name ?? namespace })
  return found === undefined ? application : { ...application, spec: { ...application.spec, suspend: true } }
}

/** The facts about an Application with this spec: that of the cluster, or that of an earlier release. */
export function factsOf(deps: GatherDeps, application: Application): Facts {
  const { caches, platformNamespace, registry, images, certificateIssuers } = deps
  const { namespace = '', name, uid = '' } = application.metadata
  const chart = caches.charts.get({ name: application.spec.chart })
  const owned = cachedKinds.flatMap(({ cacheIn }) => cacheIn(caches).byIndex(ownerIndex, uid))
  const claims = caches.volumeClaims.byIndex(applicationIndex, `${namespace}/${name}`)
  const kept = claims.filter(claim => isKeptClaimOf(application, claim))
  return {
    ...hostFacts(deps, application),
    registry,
    contents: images.stateOf(application),
    certificateIssuers,
    chart: chart && {
      timeoutSeconds: chart.spec.timeoutSeconds,
      lookup: findChartSource(chart, configMap => caches.configMaps.get({ namespace: platformNamespace, name: configMap })),
    },
    secrets: secretFacts(caches, application),
    ...serviceFacts(caches, application),
    children: new Map([...owned, ...kept].map(child => [entryText(entryOf(child)), child])),
    volumeClaims: new Set(claims.map(claim => entryText(entryOf(claim)))),
    present: union(application.status?.inventory ?? [], owned.map(entryOf)),
    pods: caches.pods.byIndex(applicationIndex, `${namespace}/${name}`).filter(pod => jobOfPod(pod) === undefined),
    releases: releaseFacts(caches, application),
    ...accountOf(caches, application),
  }
}

/**
 * Also while the grant does not hold for a time, so that its pods are not replaced for that. An isolated Application has another
 * one.
 */
function accountOf({ grants }: ApplicationCaches, { metadata: { name, uid = '' }, spec }: Application): PodAccount {
  if (spec.isolated === true) return {}
  const naming = grants.byIndex(grantIndex, uid).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  if (naming.length === 0) return {}
  const account = applicationAccount(name)
  const tokens = naming
    .filter(grant => grant.spec.delivery === optInDelivery)
    .map(({ metadata: { name: grant }, spec: { secret } }) => {
      return { grant, secret: tokenSecretName(account, grant), pulls: secret?.format === 'DockerConfig' }
    })
    .toSorted((a, b) => compareText(a.grant, b.grant))
  return { account, ...(tokens.length === 0 ? {} : { tokens }) }
}

/** Newest first. */
function releaseHeaders({ releases }: ApplicationCaches, { metadata: { uid = '' } }: Application): readonly ReleaseHeader[] {
  return releases.byIndex(ownerIndex, uid).toSorted((a, b) => b.spec.number - a.spec.number)
}

function releaseFacts(caches: ApplicationCaches, application: Application): ReleaseFacts {
  const { namespace = '', name, uid = '' } = application.metadata
  const jobs = caches.jobs.byIndex(ownerIndex, uid).filter(job => releaseOfJob(job) !== undefined)
  const podsOfJobs = jobs.flatMap(job => {
    const [pod] = caches.pods.byIndex(jobIndex, `${namespace}/${job.metadata.name}`)
    return pod === undefined ? [] : [[job.metadata.name, pod] as const]
  })
  return {
    headers: releaseHeaders(caches, application),
    jobs,
    podsOfJobs: new Map(podsOfJobs),
    syncs: caches.remoteSyncs.byIndex(syncIndex, `${namespace}/${name}`),
    secretVersions: {
      ...secretVersions(application.spec, secretFacts(caches, application)),
      ...serviceVersions(serviceFacts(caches, application)),
    },
  }
}

function secretFacts({ appSecrets }: ApplicationCaches, { spec, metadata: { namespace = '' } }: Application): SecretFacts {
  const found = usedSecrets(spec).map(name => [name, appSecrets.get({ namespace, name })] as const)
  return new Map(found.filter(([, appSecret]) => appSecret?.metadata.deletionTimestamp === undefined))
}

/** A label alone does not make an Ingress ours: outside of tenants' namespaces other users may set it. */
function isForeign(ingress: Ingress): boolean {
  return controllingKey(ingress, applications) === undefined
}

function hostFacts({ caches, ingress, reservedHosts, redirectAnnotations }: GatherDeps, application: Application): HostFacts {
  const hosts = wantedHosts(application, ingress)
  const [tenant] = caches.tenants.byIndex(namespaceIndex, application.metadata.namespace ?? '')
  const claims = hosts.flatMap(host => {
    const claim = caches.claims.get({ name: host })
    return claim === undefined ? [] : [[host, claim] as const]
  })
  const served = hosts.filter(
    host =>
      caches.foreignIngresses.byIndex(hostIndex, host).length > 0 || caches.ingresses.byIndex(hostIndex, host).some(isForeign),
  )
  return {
    application,
    ingress,
    tenant,
    usersOfHost: new Map(hosts.map(host => [host, caches.applications.byIndex(hostIndex, host)])),
    claims: new Map(claims),
    reservedHosts,
    foreignHosts: new Set(served),
    redirectAnnotations,
  }
}
