// Reads what a RemoteSync's reconcile must know, as plain values: `gather` from caches and memory only, `gatherBuild` also from
// the builder and the source store, once the commit is known. Never writes; absence is a fact and never throws.

import type { AppSecret } from '../../api/apps/app-secret.ts'
import type { Application } from '../../api/apps/application.ts'
import type { PreviewApproval } from '../../api/apps/preview-approval.ts'
import { applicationsOf } from '../../api/apps/remote-sync/applications.ts'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import type { Installation } from '../../api/github/installation.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { keyOf, keyText, type ObjectKey } from '../../api/resource.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Builder, BuildKey, BuildOwner, BuildResources, BuildState, OwnedBuild } from '../../services/builds/builder.ts'
import type { SourceIdentity } from '../../services/builds/source-store/source-address.ts'
import type { SourceStore } from '../../services/builds/source-store/source-store.ts'
import { ownedGrantName } from '../kit/repository/owned-grant.ts'
import { tenantsByNamespace } from '../kit/tenants-by-namespace.ts'
import type { LastChecks } from './last-checks.ts'

export type RemoteSyncCaches = {
  readonly remoteSyncs: Cache<RemoteSync>
  readonly applications: Cache<Application>
  readonly installations: Cache<Installation>
  readonly grants: Cache<RepositoryGrant>
  readonly tenants: Cache<Tenant>
  readonly appSecrets: Cache<AppSecret>
  readonly previewApprovals: Cache<PreviewApproval>
}

/** What builds may be like on this platform. */
export type BuildOffer = {
  /** The names that `spec.build.builder` and a Tenant may have. */
  readonly builders: readonly string[]
  /** The most that `spec.build.resources` may ask for, as quantities. */
  readonly most: Required<BuildResources>
}

/** RemoteSyncs by the `keyText` of their Applications, and of their Installation. */
export const targetIndex = 'remoteSyncTarget'
export const installationIndex = 'remoteSyncInstallation'

/** Of a Tenant that does not set `spec.limits.concurrentBuilds`. */
const defaultConcurrentBuilds = 2

/** The keys of the Applications that run what a RemoteSync builds. */
export function applicationKeys(item: RemoteSync): readonly ObjectKey[] {
  return applicationsOf(item.spec).map(name => ({ ...keyOf(item), name }))
}

/** Call once, before the caches start. */
export function addRemoteSyncIndexes({ remoteSyncs, tenants }: RemoteSyncCaches): void {
  remoteSyncs.addIndex(targetIndex, item => applicationKeys(item).map(keyText))
  remoteSyncs.addIndex(installationIndex, item => [keyText({ ...keyOf(item), name: item.spec.installation })])
  tenantsByNamespace(tenants)
}

/** `application`: undefined when it does not exist. */
export type OtherApplication = { readonly name: string; readonly application: Application | undefined }

export type Facts = {
  readonly remoteSync: RemoteSync
  /** The RemoteSync as the owner of its builds and sources. */
  readonly owner: BuildOwner
  readonly now: Date
  /** The Tenant of the namespace; undefined when there is none or it has no build namespace yet. */
  readonly tenant: { readonly buildNamespace: string; readonly concurrentBuilds: number } | undefined
  readonly installation: Installation | undefined
  /** The one with the name of the owned grant, whether or not this RemoteSync owns it. */
  readonly grant: RepositoryGrant | undefined
  readonly application: Application | undefined
  /** Those of `spec.otherApplications`, in that order. */
  readonly others: readonly OtherApplication[]
  /** Other RemoteSyncs that name one of the same Applications. */
  readonly rivals: readonly RemoteSync[]
  /** The builder that the RemoteSync or its Tenant names; undefined for the platform's. */
  readonly builder: string | undefined
  /** AppSecrets that the build needs and that do not exist. */
  readonly missingSecrets: readonly string[]
  readonly offer: BuildOffer
  /** When this process last asked GitHub for the commit. */
  readonly lastCheckedAt: Date | undefined
}

export type GatherDeps = {
  readonly caches: RemoteSyncCaches
  readonly lastChecks: LastChecks
  readonly builder: Pick<Builder, 'observe' | 'ofOwner'>
  readonly sources: Pick<SourceStore, 'has'>
  readonly clock: Clock
  readonly offer: BuildOffer
}

function rivalsOf({ remoteSyncs }: Pick<RemoteSyncCaches, 'remoteSyncs'>, remoteSync: RemoteSync): readonly RemoteSync[] {
  const all = applicationKeys(remoteSync).flatMap(key => remoteSyncs.byIndex(targetIndex, keyText(key)))
  return [...new Set(all)].filter(({ metadata }) => metadata.uid !== remoteSync.metadata.uid)
}

/** The Applications that exist, that of `spec.application` first. */
export function existingApplications({ application, others }: Pick<Facts, 'application' | 'others'>): readonly Application[] {
  return [application, ...others.map(other => other.application)].filter(found => found !== undefined)
}

/** What is known before GitHub is asked. */
export function gather({ caches, lastChecks, clock, offer }: GatherDeps, remoteSync: RemoteSync): Facts {
  const { spec, metadata, kind } = remoteSync
  const { namespace = '', name, uid = '' } = metadata
  const [tenant] = tenantsByNamespace(caches.tenants)(namespace)
  const buildNamespace = tenant?.status?.buildNamespace
  const concurrentBuilds = tenant?.spec.limits?.concurrentBuilds ?? defaultConcurrentBuilds
  return {
    remoteSync,
    owner: { kind, namespace, name, uid },
    now: clock.now(),
    tenant: buildNamespace === undefined ? undefined : { buildNamespace, concurrentBuilds },
    installation: caches.installations.get({ namespace, name: spec.installation }),
    grant: caches.grants.get({ namespace, name: ownedGrantName(remoteSync) }),
    application: caches.applications.get({ namespace, name: spec.application }),
    others: (spec.otherApplications ?? []).map(other => ({
      name: other,
      application: caches.applications.get({ namespace, name: other }),
    })),
    rivals: rivalsOf(caches, remoteSync),
    builder: spec.build.builder ?? tenant?.spec.builder,
    missingSecrets: (spec.build.secrets ?? []).filter(secret => caches.appSecrets.get({ namespace, name: secret }) === undefined),
    offer,
    lastCheckedAt: lastChecks.get(uid),
  }
}

/** A build and the one commit that it is made from. */
export type CommitBuild = { readonly name: string; readonly commit: string }

/** The build namespace is known once `decide` has passed. */
export function buildKey({ tenant }: Facts, name: string): BuildKey {
  return { namespace: tenant?.buildNamespace ?? '', name }
}

/** How the source store identifies the source of a build. */
export function sourceIdentity(facts: Facts, { name, commit }: CommitBuild): SourceIdentity {
  return { namespace: buildKey(facts, name).namespace, build: name, commit }
}

export type BuildFacts = {
  readonly state: BuildState
  /** The build still has to read its source and the source store does not have it: after a restart with another disk. */
  readonly sourceMissing: boolean
  /** All builds of the RemoteSync, newest first. */
  readonly builds: readonly OwnedBuild[]
  readonly now: Date
}

/** @throws KubeError when the API server cannot be asked */
export async function gatherBuild(deps: GatherDeps, facts: Facts, build: CommitBuild): Promise<BuildFacts> {
  const { builder, sources, clock } = deps
  // Before the image is read: that is the platform's share of the time, not the build's.
  const now = clock.now()
  const state = await builder.observe(buildKey(facts, build.name), facts.owner)
  const sourceMissing = state.kind === 'running' && state.needsSource && !(await sources.has(sourceIdentity(facts, build)))
  return { state, sourceMissing, builds: builder.ofOwner(facts.owner), now }
}
