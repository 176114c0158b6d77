// Responses that go on while a log is followed: how long one may last, and what ends it.
import type { FastifyReply } from 'fastify'
import type { Clock } from '../../../lib/clock.ts'
import type { WebServer } from '../../../web/server.ts'

/** A connection that nothing is sent on for so long is closed; while a log is followed something is sent every second. */
const silenceMilliseconds = 60_000
/** As long as an ID token lives. */
const maxMilliseconds = 600_000

/** `expiresAt`: of the credential. `leave` is called when the connection has ended. */
type Followed = { readonly reply: FastifyReply; readonly expiresAt: Date; readonly leave: () => void }

/** Makes the signal that ends a response: with its connection, its credential, its time, or this server. */
export function createFollowedResponses(server: WebServer, clock: Clock): (followed: Followed) => AbortSignal {
  const stopping = new AbortController()
  server.addHook('preClose', async () => stopping.abort('stopping'))
  return ({ reply, expiresAt, leave }) => {
    const gone = new AbortController()
    reply.raw.once('close', () => {
      gone.abort('gone')
      leave()
    })
    reply.raw.setTimeout(silenceMilliseconds)
    const left = Math.min(maxMilliseconds, Math.max(0, expiresAt.getTime() - clock.now().getTime()))
    return AbortSignal.any([stopping.signal, AbortSignal.timeout(left), gone.signal])
  }
}
