// Whose a build is, and what its object says about it, whatever builds it: a kpack Build or a pod. Pure.
import { domain } from '../../api/kind.ts'
import { labels } from '../../api/names.ts'
import { type KubeObject, keyText, type ObjectKey, parseKey } from '../../api/resource.ts'
import type { BuildOwner, BuildRequest, LoggedBuild } from './builder.ts'

/** `sekisho.dev/remote-sync` for the kind RemoteSync. Existing Builds carry these keys: they must not change. */
export function ownerAnnotation(kind: string): string {
  return `${domain}/${kind.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}`
}

export function ownerUidLabel(kind: string): string {
  return `${ownerAnnotation(kind)}-uid`
}

/** The labels of a build of this owner. */
export function buildLabels({
  owner,
  application,
}: Pick<BuildRequest, 'owner' | 'application'>): Readonly<Record<string, string>> {
  return {
    [ownerUidLabel(owner.kind)]: owner.uid,
    [labels.application]: application,
    [labels.managedBy]: 'sekisho',
  }
}

/** Whether a build belongs to this very object. Checked whenever a build is read. */
export function belongsTo(build: KubeObject, owner: Pick<BuildOwner, 'kind' | 'uid'>): boolean {
  return build.metadata.labels?.[ownerUidLabel(owner.kind)] === owner.uid
}

/** The uid of the owner, whatever its kind: builds are indexed by it. */
export function ownerUids(build: KubeObject): readonly string[] {
  const found = Object.entries(build.metadata.labels ?? {})
  return found.filter(([label]) => label.startsWith(`${domain}/`) && label.endsWith('-uid')).map(([, uid]) => uid)
}

/**
 * The key of the owner if it is of this kind. It serves to wake a controller only; who owns the build is decided by
 * `belongsTo`.
 */
export function ownerKeys(build: KubeObject, kind: string): readonly ObjectKey[] {
  const owner = build.metadata.annotations?.[ownerAnnotation(kind)]
  return owner === undefined ? [] : [parseKey(owner)]
}

/** The uid of the owner of this kind. */
export function ownerUidOf(build: KubeObject, kind: string): string {
  return build.metadata.labels?.[ownerUidLabel(kind)] ?? ''
}

/** Indexes a build by the keys that its annotations name. */
export function ownerKeyTexts(build: KubeObject): readonly string[] {
  const found = Object.entries(build.metadata.annotations ?? {})
  return found.filter(([name]) => name.startsWith(`${domain}/`)).map(([name, key]) => `${name} ${key}`)
}

/** What `ownerKeyTexts` holds for the builds of this kind and key. */
export function ownerKeyText(kind: string, key: ObjectKey): string {
  return `${ownerAnnotation(kind)} ${keyText(key)}`
}

// Annotations below `sekisho.dev/` name owners.
const attemptAnnotation = 'builds.sekisho.dev/attempt'
/** Which AppSecrets a Build gets, separated by commas. */
export const secretsAnnotation = 'builds.sekisho.dev/secrets'

/** What the object of a build says about the build, besides its owner: for who reads its log. */
export function requestAnnotations({ owner, attempt, secrets }: BuildRequest): Readonly<Record<string, string>> {
  return {
    [ownerAnnotation(owner.kind)]: keyText({ namespace: owner.namespace, name: owner.name }),
    [attemptAnnotation]: String(attempt),
    ...(secrets.length === 0 ? {} : { [secretsAnnotation]: secrets.join(',') }),
  }
}

/** How the log of the build is read; undefined for one of another kind of owner. */
export function loggedBuild(
  { metadata }: KubeObject,
  more: Pick<LoggedBuild, 'commit' | 'pod' | 'steps' | 'result' | 'masked' | 'pushes'>,
): LoggedBuild | undefined {
  const owner = metadata.annotations?.[ownerAnnotation('RemoteSync')]
  if (owner === undefined) return undefined
  const { namespace = '', name } = parseKey(owner)
  return {
    id: metadata.uid ?? '',
    key: { namespace: metadata.namespace ?? '', name: metadata.name },
    owner: { kind: 'RemoteSync', namespace, name, uid: metadata.labels?.[ownerUidLabel('RemoteSync')] ?? '' },
    attempt: Number(metadata.annotations?.[attemptAnnotation] ?? 1) || 1,
    createdAt: new Date(metadata.creationTimestamp ?? 0),
    secrets: (metadata.annotations?.[secretsAnnotation] ?? '').split(',').filter(text => text !== ''),
    ...more,
  }
}
