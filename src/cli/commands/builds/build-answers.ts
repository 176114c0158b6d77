// What the platform answers about builds, checked before it is used. Pure.
import { AppError } from '../../../lib/errors.ts'
import { asObject, type JsonObject, objectsAt, textAt } from '../../../lib/json/json-value.ts'

export type Build = JsonObject & { readonly name: string; readonly remoteSync: string; readonly commit: string }

export type QueuedBuild = { readonly remoteSync: string; readonly message: string }

function invalid(): AppError {
  return new AppError('upstream_failed', 'the response of the platform is not valid: is this sekisho up to date?')
}

/** Throws `upstream_failed` for anything else. */
export function buildOf(value: unknown): Build {
  const found = asObject(value)
  const [name, remoteSync, commit] = ['name', 'remoteSync', 'commit'].map(field => textAt(found, field))
  if (found === undefined || name === undefined || remoteSync === undefined || commit === undefined) throw invalid()
  return { ...found, name, remoteSync, commit }
}

/** Throws as `buildOf`. */
export function buildListOf(value: unknown): { readonly builds: readonly Build[]; readonly queued: readonly QueuedBuild[] } {
  const answer = asObject(value)
  const [builds, queued] = [objectsAt(answer, 'builds'), objectsAt(answer, 'queued')]
  return {
    builds: builds.map(buildOf),
    queued: queued.map(item => ({ remoteSync: textAt(item, 'remoteSync') ?? '', message: textAt(item, 'message') ?? '' })),
  }
}

/** The path of the builds of a namespace. */
export function buildsPath(namespace: string): string {
  return `/api/v1/tenants/${encodeURIComponent(namespace)}/builds`
}
