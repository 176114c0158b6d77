// What a row of the attack matrix is, and the few ways to write one.
import type { Identity } from '../impersonation.ts'

export type Row = {
  readonly name: string
  readonly as: Identity
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly type?: string
  /** `allowed`, or the rule that refuses. */
  readonly expected: 'allowed' | string
}

export const merge = 'application/merge-patch+json'
export const strategic = 'application/strategic-merge-patch+json'
export const apply = 'application/apply-patch+yaml'

export const post = (name: string, as: Identity, path: string, body: unknown, expected: string): Row => ({
  name,
  as,
  method: 'POST',
  path,
  body,
  expected,
})
export const patch = (name: string, as: Identity, path: string, body: unknown, expected: string, type = merge): Row => ({
  name,
  as,
  method: 'PATCH',
  path,
  body,
  type,
  expected,
})
export const remove = (name: string, as: Identity, path: string, expected: string): Row => ({
  name,
  as,
  method: 'DELETE',
  path,
  expected,
})

export function ownerOf(apiVersion: string, kind: string, controller = false): object {
  return { apiVersion, kind, name: 'owner', uid: '00000000-0000-4000-8000-000000000000', controller }
}
