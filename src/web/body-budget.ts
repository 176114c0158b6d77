// Bounds what requests occupy together before anything of them is read: how many are in progress, and how many bytes their bodies may have. What
// exceeds it is refused at once, with 503, by the head of the request alone.
import type { FastifyRequest } from 'fastify'
import { AppError } from '../lib/errors.ts'
import type { WebServer } from './server.ts'

export type BodyBudget = {
  /** Requests in progress. */
  readonly requests: number
  /** The bytes that their bodies announce, in sum. One without a length counts as the largest body. */
  readonly bytes: number
  /** The largest body. */
  readonly bodyLimit: number
}

/** Call before routes are added. A place is free again when the response was sent or the connection ended. */
export function limitBodies(server: WebServer, { requests, bytes, bodyLimit }: BodyBudget): void {
  let inProgress = 0
  let announced = 0
  server.addHook('onRequest', (request, reply, next) => {
    const size = announcedBytes(request, bodyLimit)
    if (inProgress >= requests || announced + size > bytes) {
      // The body follows: reading it only to discard it would serve its sender.
      reply.header('connection', 'close')
      next(new AppError('unavailable', 'too many requests in progress: try again', { retryAfterSeconds: 1 }))
      return
    }
    inProgress++
    announced += size
    reply.raw.once('close', () => {
      inProgress--
      announced -= size
    })
    next()
  })
}

function announcedBytes({ headers }: FastifyRequest, bodyLimit: number): number {
  const length = headers['content-length']
  if (length !== undefined) return Math.min(Number(length), bodyLimit)
  return headers['transfer-encoding'] === undefined ? 0 : bodyLimit
}
