// The lifecycle of a server that API servers call and of which there are several replicas: how it begins, and how it leaves
// without a call that fails.
import { type Clock, elapsed } from '../lib/clock.ts'
import type { PostServer } from './post-server.ts'

/** How a replica leaves, in milliseconds. */
export type DrainTimes = {
  /** It serves at least this long after `stop`: until no API server chooses it for a new connection. */
  readonly atLeast: number
  /** Then it waits until no request came for this long. */
  readonly quiet: number
  /** It never serves longer than this. */
  readonly atMost: number
}

/**
 * For one of several replicas. Endpoints of a pod that ends are withdrawn within a second or two; the sum of this and of a
 * request must stay below the pod's `terminationGracePeriodSeconds` and below the time limit of runUntilStopped.
 */
export const replicaDrain: DrainTimes = { atLeast: 5000, quiet: 1000, atMost: 20_000 }

export type DrainedServerDeps = {
  readonly clock: Clock
  readonly address: { readonly host: string; readonly port: number }
  /** Makes the server; it calls `onRequest` for each request, and `last` closes the connection after the answer. */
  readonly create: (onRequest: () => 'more' | 'last') => PostServer
  /** Without it the server ends at once: nobody else could serve instead. */
  readonly drain?: DrainTimes
}

/** It starts once. */
export type DrainedServer = {
  /** Resolves to the port when the server answers. */
  readonly start: () => Promise<number>
  /** Not ready from now on; resolves when the last request is answered. */
  readonly stop: () => Promise<void>
  readonly ready: () => boolean
}

const closeMilliseconds = 1000
const checkMilliseconds = 100

/** A server that neither listens nor holds anything before `start`. */
export function createDrainedServer({ clock, address, create, drain }: DrainedServerDeps): DrainedServer {
  let server: PostServer | undefined
  let draining = false
  let lastRequest = 0

  const isOver = (since: number, { atLeast, quiet, atMost }: DrainTimes): boolean => {
    const now = elapsed(clock)
    return now - since >= atMost || (now - since >= atLeast && now - lastRequest >= quiet)
  }

  const onRequest = (): 'more' | 'last' => {
    lastRequest = elapsed(clock)
    // The API server then opens its next connection by the Service, which leads to another replica.
    return draining ? 'last' : 'more'
  }

  return {
    async start() {
      server = create(onRequest)
      return await server.listen(address)
    },
    async stop() {
      const closing = server
      if (closing === undefined || draining) return
      draining = true
      const since = elapsed(clock)
      if (drain !== undefined) while (!isOver(since, drain)) await clock.sleep(checkMilliseconds)
      await close(closing, clock)
      server = undefined
    },
    ready: () => server !== undefined && !draining,
  }
}

/** Requests in progress take milliseconds; idle connections that an API server keeps open would never end by themselves. */
async function close(server: PostServer, clock: Clock): Promise<void> {
  const closing = server.close()
  await Promise.race([closing, clock.sleep(closeMilliseconds)])
  server.closeAllConnections()
  await closing
}
