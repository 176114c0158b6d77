// The Release to create, and where its change came from, as far as the Application says it. Pure.
import type { Application } from '../../../api/apps/application.ts'
import { type Release, release } from '../../../api/apps/release.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { domain } from '../../../api/kind.ts'
import { labels, promotedAnnotation } from '../../../api/names.ts'
import type { NewObject } from '../../../kube/client/client.ts'
import { ownerReference, uidOf } from '../../../kube/object/owner.ts'
import { isJsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import type { ReleasePlan } from './choose-release.ts'
import { type SecretVersions, snapshotOf } from './release-content.ts'

type By = Release['spec']['by']
type Reason = ReleasePlan['reason']

/** The field manager of RemoteSyncs. */
const remoteSyncManager = `${domain}/remote-sync`

/** `<application>-v<number>`. */
export function releaseName(application: string, number: number): string {
  return `${application}-v${number}`
}

/**
 * The field manager of the last write that was not the platform's own. It is the name of a program, which the program chose itself:
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers
 */
function lastManager(live: Application): string {
  const { metadata } = live
  const entries = isJsonObject(metadata) ? objectsAt(metadata, 'managedFields') : []
  const others = entries.filter(
    entry => entry['subresource'] !== 'status' && textAt(entry, 'manager')?.startsWith(`${domain}/`) === false,
  )
  const [last] = others.toSorted((a, b) => ((textAt(a, 'time') ?? '') < (textAt(b, 'time') ?? '') ? 1 : -1))
  return (last && textAt(last, 'manager')) ?? 'unknown'
}

function ofImage(reason: Reason): boolean {
  return reason === 'First' || reason === 'NewCommit' || reason === 'NewImage' || reason === 'Promoted'
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

/** A RemoteSync says by an annotation, which nobody else can set, that it took the image of a preview without a build. */
export function changeOf({ metadata, spec }: Application, reason: Reason): Reason {
  const isPromoted = spec.commit !== undefined && metadata.annotations?.[promotedAnnotation] === spec.commit
  return isPromoted && ofImage(reason) ? 'Promoted' : reason
}

/**
 * `live`: as the API server has it, with `managedFields`. `syncs`: the RemoteSyncs of the Application. Only the platform sets `spec.commit`, so an
 * image with one was set by the RemoteSync that has this image, or that still works on this commit: it writes its own status afterwards.
 */
export function changedBy(live: Application, syncs: readonly RemoteSync[], reason: Reason): By {
  const sync = ofImage(reason) ? syncOf(live, syncs) : undefined
  if (sync) return { kind: 'RemoteSync', name: sync.metadata.name, requestedBy: sync.spec.requestedBy }
  return { kind: 'FieldManager', name: lastManager(live).slice(0, 253) }
}

/** The Application has an image: it was decided that it can be rendered. */
export function desiredRelease(
  application: Application,
  { number, hash, reason }: ReleasePlan,
  { secretVersions, by }: { readonly secretVersions: SecretVersions; readonly by: By },
): NewObject<Release> {
  const { name, namespace = '' } = application.metadata
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
      application: { name, uid: uidOf(application) },
      number,
      image,
      ...(commit === undefined ? {} : { commit }),
      hash,
      snapshot: snapshotOf(application),
      ...(Object.keys(secretVersions).length === 0 ? {} : { secretVersions }),
      ...(restartedAt === undefined ? {} : { restartedAt }),
      by,
      reason,
    },
  }
}
