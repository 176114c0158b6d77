// The hook that runs before an owned Application is deleted: the release job of a last release, so that it has the image, the
// environment and the security of that Application. An annotation says that the end has begun; from then on nothing brings it
// back, and the hook cannot keep it for ever. Pure.
import type { Application } from '../../../api/apps/application.ts'
import { domain } from '../../../api/kind.ts'

/** On the Application: since when its end waits for the hook. */
export const endingAnnotation = `${domain}/preview-ending`

export type LastHook = NonNullable<Application['spec']['releaseJob']>

/** For a Job whose pod no node takes, and for the Application controller to begin with it. */
const graceMilliseconds = 120_000

export type EndStep =
  | { readonly kind: 'delete' }
  /** A merge patch of the Application. */
  | { readonly kind: 'begin'; readonly patch: object; readonly milliseconds: number }
  | { readonly kind: 'wait'; readonly milliseconds: number }

/** Whether its end has begun. */
export function isEnding(application: Application | undefined): boolean {
  return application?.metadata.annotations?.[endingAnnotation] !== undefined
}

/** The hook has run when the newest release, which has it, is past its job. */
function hasRun({ metadata, status }: Application, began: number): boolean {
  const { observedGeneration, latestRelease, releaseJob } = status ?? {}
  if (observedGeneration !== metadata.generation || releaseJob === undefined) return false
  return releaseJob.release === latestRelease && releaseJob.state !== 'Running' && Date.parse(releaseJob.startedAt) >= began
}

/** What to do next before the Application is deleted. What never ran has nothing to clean up. */
export function endStep(hook: LastHook | undefined, application: Application, now: Date): EndStep {
  const { metadata, status } = application
  if (hook === undefined || status?.release === undefined) return { kind: 'delete' }
  const most = hook.timeoutSeconds * 1000 + graceMilliseconds
  const since = metadata.annotations?.[endingAnnotation]
  if (since === undefined) {
    const annotations = { [endingAnnotation]: now.toISOString() }
    // With the version: a cache that is behind must not begin it twice, with another time. A suspended Application runs no job.
    const { uid, resourceVersion } = metadata
    const patch = { metadata: { uid, resourceVersion, annotations }, spec: { releaseJob: hook, suspend: null } }
    return { kind: 'begin', patch, milliseconds: most }
  }
  const began = Date.parse(since)
  const left = began + most - now.getTime()
  // Not a time: nobody but the platform could have written it, and it must not keep the Application.
  if (hasRun(application, began) || !(left > 0)) return { kind: 'delete' }
  return { kind: 'wait', milliseconds: left }
}
