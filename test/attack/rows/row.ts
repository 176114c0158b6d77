// What a row of the attack matrix is, and how rows are written.
import type { ApiRequest, Identity } from '../impersonation.ts'

export type Row = ApiRequest & {
  readonly name: string
  readonly as: Identity
  /** `allowed`, or the rule that refuses. */
  readonly expected: string
  /** Further rules that refuse the same request: the API server reports any one of them. */
  readonly also: readonly string[]
}

/** Writes rows that expect one outcome: `allowed`, or the rule that refuses, with others that refuse as well. */
export function expecting(expected: string, ...also: readonly string[]) {
  const row =
    (method: string, type?: string) =>
    (name: string, as: Identity, path: string, body?: unknown): Row => ({ name, as, method, path, body, type, expected, also })
  return {
    post: row('POST'),
    put: row('PUT'),
    patch: row('PATCH'),
    strategicPatch: row('PATCH', 'application/strategic-merge-patch+json'),
    jsonPatch: row('PATCH', 'application/json-patch+json'),
    apply: row('PATCH', 'application/apply-patch+yaml'),
    remove: row('DELETE'),
  }
}

export const allowed = expecting('allowed')

/** A reference to an owner, which is the controlling one only with `controller`. */
export function ownerOf(apiVersion: string, kind: string, controller = false): object {
  return { apiVersion, kind, name: 'owner', uid: '00000000-0000-4000-8000-000000000000', controller }
}
