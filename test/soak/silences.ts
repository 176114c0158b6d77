// Watches that fell silent in the chaos proxy, and how long it took until they were replaced. Pure.
import type { LoggedRequest } from '../faults/chaos-proxy/request-log.ts'

/** Of a logged request, what is looked at here. */
export type WatchRequest = Pick<LoggedRequest, 'verb' | 'path' | 'at' | 'fault'>

/** Nothing comes on its connection any more, and no end of it. */
export function isSilent(request: Pick<WatchRequest, 'verb' | 'fault'> | undefined): boolean {
  return request?.verb === 'watch' && (request.fault === 'stall' || request.fault === 'half-open')
}

/** The watch of the same path that this one came after. */
export function watchBefore<Request extends WatchRequest>(log: readonly Request[], request: WatchRequest): Request | undefined {
  return log.findLast(({ verb, path, at }) => verb === 'watch' && path === request.path && at < request.at)
}

/**
 * Seconds from the opening of each silent watch until another one, or a list, took its place; until `now` (in milliseconds, as `at`) when
 * none has. The silence itself is shorter. One client has one watch of a path.
 */
export function silencesUntilFound(log: readonly WatchRequest[], now: number): readonly number[] {
  return log.filter(isSilent).map(silent => {
    const next = log.find(({ verb, path, at }) => (verb === 'watch' || verb === 'list') && path === silent.path && at > silent.at)
    return ((next?.at ?? now) - silent.at) / 1000
  })
}
