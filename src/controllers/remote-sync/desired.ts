// What a RemoteSync wants to exist: the build of a commit under its deterministic name, and its source. Pure.
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import { canonicalJson } from '../../lib/json/canonical-json.ts'
import { defined } from '../../lib/json/defined.ts'
import { shortHash } from '../../lib/text/bounded-name.ts'
import type { BuildRequest } from '../../services/builds/builder.ts'
import type { SourceRequest } from '../../services/builds/source-store/source-store.ts'
import type { RepositoryAccess } from '../kit/repository/owned-grant.ts'
import { buildEnvironment, builtFolder } from './application-facts.ts'
import { buildResourcesOf } from './build-resources.ts'
import { buildKey, type CommitBuild, existingApplications, type Facts, sourceIdentity } from './gather.ts'
import type { RemoteSyncStatus } from './status.ts'

/**
 * The image to run, and the commit it was built from: that of a preview when it is promoted. `isRebased`: it only got another
 * run image.
 */
export type BuiltImage = {
  readonly image: string
  readonly commit: string
  readonly isPromoted: boolean
  readonly isRebased?: boolean
}

const maxPrefix = 30
/** kpack names a volume after the Secret of the build, with a prefix, and such a name has 63 characters at most. */
const maxPrefixWithSecrets = 24
/** The source URL stays valid this long after the build timeout, in case the end of the build is observed late. */
const sourceGraceSeconds = 300

/**
 * The name follows from the RemoteSync, the commit, the inputs of the build and the attempt: after a crash between creating a
 * Build and writing the status the same Build is found again, and a changed build setting results in another Build.
 */
export function buildName(remoteSync: RemoteSync, commit: string, attempt: number): string {
  const { build, subPath } = remoteSync.spec
  const secrets = build.secrets ?? []
  const inputs = {
    uid: remoteSync.metadata.uid ?? '',
    commit,
    attempt,
    strategy: build.strategy,
    subPath: subPath ?? '',
    env: build.env ?? [],
    // Absent without it: names of builds that exist must not change.
    ...defined({ dockerfile: build.dockerfile, builder: build.builder, root: build.root }),
    ...(build.allowIncompleteSource === true ? { allowIncompleteSource: true } : {}),
    ...(secrets.length === 0 ? {} : { secrets }),
  }
  const hash = shortHash(canonicalJson(inputs))
  const prefix = remoteSync.metadata.name
    .slice(0, secrets.length === 0 ? maxPrefix : maxPrefixWithSecrets)
    .replaceAll('.', '-')
    .replace(/-+$/, '')
  return `${prefix}-${hash}`
}

/**
 * The source that the build reads. It holds the token. git knows no ids, so `repository` is the name that GitHub answered with
 * just now, by id; the commit was resolved by id too, and no other repository can have another one under the same hash.
 */
export function desiredSource(
  facts: Facts,
  build: CommitBuild,
  { endpoints, token }: RepositoryAccess,
  repository: { readonly fullName: string },
): SourceRequest {
  const { spec } = facts.remoteSync
  const { build: settings } = spec
  return {
    identity: sourceIdentity(facts, build),
    owner: facts.owner.uid,
    lifetimeSeconds: settings.timeoutSeconds + sourceGraceSeconds,
    completeBelow: settings.allowIncompleteSource === true ? undefined : (builtFolder(spec).subPath ?? ''),
    repositoryUrl: `${endpoints.web}/${repository.fullName}.git`,
    web: endpoints.web,
    commit: build.commit,
    token,
  }
}

/** The build of a commit from its source at `url`; layers of the image of the status are reused. */
export function desiredBuild(
  facts: Facts,
  { name, commit }: CommitBuild,
  url: string,
  status: Pick<RemoteSyncStatus, 'image' | 'build'>,
): BuildRequest {
  const { spec } = facts.remoteSync
  const { application, build } = spec
  return {
    key: buildKey(facts, name),
    owner: facts.owner,
    application,
    strategy: build.strategy,
    resources: buildResourcesOf(build.resources ?? {}),
    secrets: build.secrets ?? [],
    ...defined({ builder: facts.builder }),
    source: { url, commit, ...builtFolder(spec) },
    env: buildEnvironment(spec, existingApplications(facts)),
    ...defined({ dockerfile: build.dockerfile }),
    timeoutSeconds: build.timeoutSeconds,
    attempt: status.build?.attempt ?? 1,
    ...defined({ previousImage: status.image }),
  }
}
