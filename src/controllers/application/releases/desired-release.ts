// The Release to create, and where its change came from, as far as the Application says it. Pure.

import { changeRun } from '../../../api/apps/application/changed-by.ts'
import type { Application } from '../../../api/apps/application.ts'
import { type Release, release } from '../../../api/apps/release.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { domain } from '../../../api/kind.ts'
import { changedByAnnotation, labels, promotedAnnotation, rebasedAnnotation } from '../../../api/names.ts'
import type { NewObject } from '../../../kube/client/client.ts'
import { ownerReference, uidOf } from '../../../kube/object/owner.ts'
import { defined } from '../../../lib/json/defined.ts'
import { isJsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { compareText } from '../../../lib/text/compare-text.ts'
import type { ReleaseInputs, ReleasePlan } from './choose-release.ts'
import { snapshotOf } from './release-content.ts'

type By = Release['spec']['by']
type Reason = ReleasePlan['reason']

/** The field manager of RemoteSyncs. */
const remoteSyncManager = `${domain}/remote-sync`

/** `<application>-v<number>`. */
export function releaseName(application: string, number: number): string {
  return `${application}-v${number}`
}

/**
 * The field manager of the last write that was not the platform's own. It is the name of a program, which the program chose
 * itself: https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers
 */
function lastManager(live: Application): string | undefined {
  const { metadata } = live
  const entries = isJsonObject(metadata) ? objectsAt(metadata, 'managedFields') : []
  const others = entries.filter(
    entry => entry['subresource'] !== 'status' && textAt(entry, 'manager')?.startsWith(`${domain}/`) === false,
  )
  const [last] = others.toSorted((a, b) => compareText(textAt(b, 'time') ?? '', textAt(a, 'time') ?? ''))
  return last && textAt(last, 'manager')
}

function ofImage(reason: Reason): boolean {
  return reason === 'First' || reason === 'NewCommit' || reason === 'NewImage' || reason === 'Promoted' || reason === 'Rebased'
}

/** Whether the RemoteSync controller was the last one that set the image. */
function isSetBySync(live: Application): boolean {
  const { metadata } = live
  const entries = isJsonObject(metadata) ? objectsAt(metadata, 'managedFields') : []
  const owners = entries.filter(entry => objectAt(entry, 'fieldsV1', 'f:spec', 'f:image') !== undefined)
  return owners.length === 1 && textAt(owners[0], 'manager') === remoteSyncManager
}

/** One that promotes an image builds nothing: with only one RemoteSync, nobody else can have set the image. */
function syncOf(live: Application, syncs: readonly RemoteSync[]): RemoteSync | undefined {
  const { image, commit } = live.spec
  if (commit === undefined) return undefined
  const [only, ...others] = syncs
  return (
    syncs.find(({ status }) => status?.image === image && status?.imageCommit === commit) ??
    syncs.find(({ status }) => status?.build?.commit === commit) ??
    (others.length === 0 && isSetBySync(live) ? only : undefined)
  )
}

/**
 * A RemoteSync says by annotations, which nobody else can set, that it took the image of a preview without a build, or that the
 * image has another run image and is the same otherwise.
 */
export function changeOf({ metadata, spec }: Application, reason: Reason): Reason {
  if (!ofImage(reason)) return reason
  const says = (annotation: string): string | undefined => metadata.annotations?.[annotation]
  if (spec.commit !== undefined && says(promotedAnnotation) === spec.commit) return 'Promoted'
  return spec.commit !== undefined && says(rebasedAnnotation) === spec.image ? 'Rebased' : reason
}

/** Nobody is named: a field manager is whatever a program calls itself, so that it must not look like the name of somebody. */
function unknown(live: Application): By {
  const manager = lastManager(live)
  const name = manager === undefined ? 'unknown' : `unknown (${manager.slice(0, 253)})`
  return { kind: 'FieldManager', name }
}

/**
 * The user of the annotation `changed-by`, which only the truth can be in. `released`: the last generation that the release
 * before is known to be of. Named is who made every generation since; who made one of them only is named beside it. A change
 * that nobody recorded (`kubectl scale`, the platform, or while the webhook was down) leaves the annotation behind the
 * generation.
 */
function ofSpec(live: Application, released: number): By {
  const run = changeRun(live.metadata.annotations?.[changedByAnnotation] ?? '')
  if (run === undefined || run.last <= released) return unknown(live)
  const isAlone = run.last === live.metadata.generation && run.first <= released + 1
  const by: By = isAlone ? { kind: 'User', name: run.user } : { ...unknown(live), alsoChangedBy: run.user }
  return run.login === undefined ? by : { ...by, login: run.login }
}

/**
 * What is known about an Application beside the object: its RemoteSyncs, and the last generation of which there is a release; 0
 * before the first.
 */
export type Changes = { readonly syncs: readonly RemoteSync[]; readonly released: number }

/**
 * `live`: as the API server has it, with `managedFields`. Only the platform sets `spec.commit`, so an image with one was set by
 * the RemoteSync that has this image, or that still works on this commit: it writes its own status afterwards. When a tag
 * moved, nobody changed the Application.
 */
export function changedBy(live: Application, { syncs, released }: Changes, reason: Reason): By {
  if (reason === 'TagMoved') return { kind: 'Tag', name: live.spec.image ?? '' }
  const sync = ofImage(reason) ? syncOf(live, syncs) : undefined
  if (sync) return { kind: 'RemoteSync', name: sync.metadata.name, requestedBy: sync.spec.requestedBy }
  // What changed is another object.
  return reason === 'SecretChanged' || reason === 'CredentialReplaced' ? unknown(live) : ofSpec(live, released)
}

/** The user name of the one person whom it names; undefined when it names nobody. */
export function personIn({ kind, name, requestedBy, alsoChangedBy }: By): string | undefined {
  return kind === 'User' ? name : (requestedBy ?? alsoChangedBy)
}

/**
 * As `changedBy`, of an Application without `managedFields`, as the caches hold it; undefined where only these can tell: nobody
 * recorded the change, or one RemoteSync may have set the image.
 */
export function changedByKnown(cached: Application, changes: Changes, reason: Reason): By | undefined {
  const by = changedBy(cached, changes, reason)
  if (by.kind === 'RemoteSync') return by
  const maySync = ofImage(reason) && cached.spec.commit !== undefined && changes.syncs.length === 1
  return by.kind === 'User' && !maySync ? by : undefined
}

/** The Application has an image: it was decided that it can be rendered. */
export function desiredRelease(
  application: Application,
  { number, hash, reason }: ReleasePlan,
  { secretVersions, tag, by }: ReleaseInputs & { readonly by: By },
): NewObject<Release> {
  const { name, namespace = '', generation } = application.metadata
  const { image = '', commit, restartedAt } = application.spec
  return {
    apiVersion: release.apiVersion,
    kind: release.kind,
    metadata: {
      name: releaseName(name, number),
      namespace,
      labels: { [labels.application]: name, [labels.managedBy]: 'sekisho' },
      ownerReferences: [ownerReference(application, { controller: true })],
    },
    spec: {
      application: { name, uid: uidOf(application), ...defined({ generation }) },
      number,
      image,
      ...defined({ tag, commit }),
      hash,
      snapshot: snapshotOf(application),
      ...(Object.keys(secretVersions).length === 0 ? {} : { secretVersions }),
      ...defined({ restartedAt }),
      by,
      reason,
    },
  }
}
