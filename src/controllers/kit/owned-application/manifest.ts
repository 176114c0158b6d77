// How an owned object is applied: its name, its owner, the labels that say whose it is, and a hash of what was applied last.
// Pure.
import { domain } from '../../../api/kind.ts'
import { ownedName, ownerLabel } from '../../../api/names.ts'
import type { KubeObject, ObjectMeta, ResourceType } from '../../../api/resource.ts'
import type { Applied } from '../../../kube/client/client.ts'
import { ownerReference } from '../../../kube/object/owner.ts'
import { canonicalJson, type JsonValue } from '../../../lib/json/canonical-json.ts'
import { defined } from '../../../lib/json/defined.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import { shortHash } from '../../../lib/text/bounded-name.ts'

/** On what is owned: a hash of what was applied last, so that a field that the owner no longer asks for is removed. */
export const desiredHashAnnotation = `${domain}/preview-hash`

/** An object as it is applied. */
export type Manifest = Applied & {
  readonly metadata: { readonly name: string; readonly namespace: string } & Partial<ObjectMeta>
  readonly spec: Readonly<Record<string, unknown>>
}

export type OwnedManifest = {
  readonly type: ResourceType
  readonly owner: KubeObject
  readonly ownerType: ResourceType
  /** What tells it from the other Applications of its owner, such as `pr-12`. */
  readonly part: string
  /** Of what is no Application: it has another name than the Application of its part. */
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly annotations?: Readonly<Record<string, string>> | undefined
  /** Fields that are undefined are left out. */
  readonly spec: Readonly<Record<string, unknown>>
}

export function ownedManifest(wanted: OwnedManifest): Manifest {
  const { type, owner, ownerType, part, labels, annotations, spec } = wanted
  const { name, namespace = '' } = owner.metadata
  return withHash({
    apiVersion: type.apiVersion,
    kind: type.kind,
    metadata: {
      name: wanted.name ?? ownedName(name, part),
      namespace,
      labels: { ...labels, [ownerLabel(ownerType.kind)]: name },
      ...defined({ annotations }),
      ownerReferences: [
        ownerReference({ ...owner, apiVersion: ownerType.apiVersion, kind: ownerType.kind }, { controller: true }),
      ],
    },
    // JSON has no undefined fields, and a hash must not depend on them.
    spec: defined(spec),
  })
}

function withHash(manifest: Manifest): Manifest {
  const hash = shortHash(canonicalJson(manifest as unknown as JsonValue), 32)
  const annotations = { ...manifest.metadata.annotations, [desiredHashAnnotation]: hash }
  return { ...manifest, metadata: { ...manifest.metadata, annotations } }
}

/**
 * Whether applying the manifest would change the object: the hash finds what is no longer asked for, the fields what others
 * changed.
 */
export function isAsDesired(live: KubeObject & { readonly spec: object }, { metadata, spec }: Manifest): boolean {
  if (live.metadata.annotations?.[desiredHashAnnotation] !== metadata.annotations?.[desiredHashAnnotation]) return false
  const present: Readonly<Record<string, unknown>> = { ...live.spec }
  return Object.entries(spec).every(([field, value]) => sameJson(present[field], value))
}
