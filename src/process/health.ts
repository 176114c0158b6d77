// The operator's port: liveness, readiness by named checks, metrics. Plain HTTP, inside the cluster only; it must never expose
// people or tokens.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Registry } from 'prom-client'
import { systemClock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import { createKeyedBuckets } from '../lib/limits/keyed-buckets.ts'
import { type Log, redactTokens } from '../lib/log.ts'
import { createNodeServer, endServer, listenOn } from '../web/connections/node-server.ts'

/** A check returns true when ready; a check that throws counts as not ready. */
export type ReadinessChecks = { readonly [name: string]: () => boolean | Promise<boolean> }

export type HealthOptions = {
  readonly log: Log
  /** Which checks count at the moment: they change while a process starts and stops. */
  readonly checks: () => ReadinessChecks
  readonly metrics?: Registry
  readonly address: { readonly host: string; readonly port: number }
}

export type HealthServer = {
  /** Resolves to the port. */
  readonly start: () => Promise<number>
  /** After `start`. Idempotent. */
  readonly stop: () => Promise<void>
}

async function failing(checks: ReadinessChecks, log: Log): Promise<readonly string[]> {
  const answers = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        return (await check()) ? undefined : name
      } catch (error) {
        log.error({ check: name, error: redactTokens(messageOf(error)) }, 'readiness check failed')
        return name
      }
    }),
  )
  return answers.filter(name => name !== undefined)
}

type Answer = { readonly status: number; readonly text: string; readonly type?: string }
const plain = 'text/plain; charset=utf-8'
/** Of one client: a probe asks once a second, and metrics are read four times a minute. */
const clientLimit = { burst: 1200, millisecondsPerToken: 50 }

/**
 * Serves `/livez` (the process responds), `/readyz` (all checks pass, or the names of those that fail) and `/metrics`
 * (Prometheus text). On Node.js alone: processes that serve nothing else load no framework for it.
 */
export function createHealthServer({ log, checks, metrics, address }: HealthOptions): HealthServer {
  const paths = new Map<string, () => Promise<Answer>>([
    ['/livez', async () => ({ status: 200, text: 'ok\n' })],
    ['/readyz', async () => readiness(await failing(checks(), log))],
  ])
  if (metrics) paths.set('/metrics', async () => ({ status: 200, text: await metrics.metrics(), type: metrics.contentType }))
  // Memory (requests to the health port): address → how many more it may send now
  //   life: the process
  //   bound: 10,000 addresses, the one seen longest ago forgotten first
  //   freshness: a minute
  //   replicas: each counts
  const buckets = createKeyedBuckets(clientLimit, systemClock)
  const answerTo = async ({ method = '', url = '', socket }: IncomingMessage): Promise<Answer> => {
    if (buckets.take(socket.remoteAddress ?? '') > 0) return { status: 429, text: 'too many requests: try again later\n' }
    const answer = method === 'GET' || method === 'HEAD' ? paths.get(url.split('?')[0] ?? '') : undefined
    return (await answer?.()) ?? { status: 404, text: 'not found\n' }
  }
  let ended: Promise<void> | undefined
  const send = (response: ServerResponse, { status, text, type = plain }: Answer): void => {
    if (ended !== undefined) response.shouldKeepAlive = false
    response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text)
  }
  const fail = (error: unknown): Answer => {
    log.error({ error }, 'a request to the health port failed')
    return { status: 500, text: 'internal error\n' }
  }
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    void answerTo(request)
      .catch(fail)
      .then(answer => send(response, answer))
  }
  const node = createNodeServer(listener, { log })
  return {
    start: () => listenOn(node, address),
    stop() {
      ended ??= endServer(node)
      return ended
    },
  }
}

function readiness(names: readonly string[]): Answer {
  return names.length === 0 ? { status: 200, text: 'ok\n' } : { status: 503, text: `not ready: ${names.join(', ')}\n` }
}
