// When a RemoteSync must look at GitHub again, and since when the news is known. Pure.

import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import { wakeAnnotation } from '../../api/names.ts'

const longestWake = 512

/** The wake annotation, cut to what the status can hold. */
export function wakeOf(remoteSync: RemoteSync): string | undefined {
  const value = remoteSync.metadata.annotations?.[wakeAnnotation]
  return value === undefined || value === '' ? undefined : value.slice(0, longestWake)
}

export function isNewWake(remoteSync: RemoteSync): boolean {
  const wake = wakeOf(remoteSync)
  return wake !== undefined && wake !== remoteSync.status?.handledWake
}

export function isNewSpec(remoteSync: RemoteSync): boolean {
  return remoteSync.status?.observedGeneration !== remoteSync.metadata.generation
}

/**
 * `lastCheckedAt` is when this process last asked GitHub; after a restart it is unknown, and asking once more is how missed
 * webhooks are found. A fixed commit is never looked up again.
 */
export function mustResolve(
  remoteSync: RemoteSync,
  lastCheckedAt: number | undefined,
  now: Date,
  sweepMilliseconds: number,
): boolean {
  if (remoteSync.status?.commit === undefined || isNewSpec(remoteSync)) return true
  if (remoteSync.spec.source.commit !== undefined) return false
  if (isNewWake(remoteSync) || lastCheckedAt === undefined) return true
  // The resync that brings the sweep comes up to a tenth early.
  return now.getTime() - lastCheckedAt >= sweepMilliseconds * 0.8
}

/** `<RFC 3339 time>/<delivery id>`: when the webhook arrived. Anything else, or a time to come, counts as now. */
export function signalledAt(remoteSync: RemoteSync, now: Date): string {
  const [time = ''] = isNewWake(remoteSync) ? (wakeOf(remoteSync) ?? '').split('/') : []
  const moment = /^\d{4}-\d\d-\d\dT/.test(time) ? Date.parse(time) : Number.NaN
  return (Number.isNaN(moment) ? now : new Date(Math.min(moment, now.getTime()))).toISOString()
}
