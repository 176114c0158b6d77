// Watches that fell silent in the chaos proxy, and the time until they were replaced. Pure.
import type { LoggedRequest } from '../proxies/chaos-proxy/request-log.ts'

/** The fields of a logged request that are used here. */
export type WatchRequest = Pick<LoggedRequest, 'verb' | 'path' | 'at' | 'fault'>

/** Whether its connection carries nothing more, without an end. */
export function isSilent(request: Pick<WatchRequest, 'verb' | 'fault'> | undefined): boolean {
  return request?.verb === 'watch' && (request.fault === 'stall' || request.fault === 'half-open')
}

/** The previous watch of the same path. */
export function watchBefore<Request extends WatchRequest>(log: readonly Request[], request: WatchRequest): Request | undefined {
  return log.findLast(({ verb, path, at }) => verb === 'watch' && path === request.path && at < request.at)
}

/**
 * Seconds from the opening of each silent watch until another watch or a list replaced it; until `now` (in milliseconds, as
 * `at`) if none has. The silence itself is shorter. A client has at most one watch of a path.
 */
export function silencesUntilFound(log: readonly WatchRequest[], now: number): readonly number[] {
  return log.filter(isSilent).map(silent => {
    const next = log.find(({ verb, path, at }) => (verb === 'watch' || verb === 'list') && path === silent.path && at > silent.at)
    return ((next?.at ?? now) - silent.at) / 1000
  })
}
