// What a part of an overlay consists of: objects of its own, and JSON patches (RFC 6902) of objects that deploy/ has.
import { stringify } from 'yaml'

export type OverlayPart = {
  /** File name → object. */
  readonly objects: Readonly<Record<string, object>>
  /** As in `patches` of a kustomization. */
  readonly patches: readonly object[]
  /** As in `replacements` of a kustomization. */
  readonly replacements?: readonly object[]
}

type Target = { readonly kind: string; readonly name?: string; readonly labelSelector?: string }
type Operation = { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }

export function patchOf(target: Target, ...operations: readonly Operation[]): object {
  return { target, patch: stringify(operations) }
}
