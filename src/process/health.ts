// The operator's port: liveness, readiness by named checks, metrics. Plain HTTP, inside the cluster only; it must never expose
// people or tokens.
import type { Registry } from 'prom-client'
import { messageOf } from '../lib/errors.ts'
import { type Log, redactTokens } from '../lib/log.ts'
import { createWebServer, listen, type WebServer } from '../web/server.ts'

/** A check returns true when ready; a check that throws counts as not ready. */
export type ReadinessChecks = { readonly [name: string]: () => boolean | Promise<boolean> }

export type HealthOptions = {
  readonly log: Log
  /** Which checks count at the moment: they change while a process starts and stops. */
  readonly checks: () => ReadinessChecks
  readonly metrics?: Registry
  readonly address: { readonly host: string; readonly port: number }
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

/**
 * Serves `/livez` (the process responds), `/readyz` (all checks pass, or the names of those that fail) and `/metrics`
 * (Prometheus text).
 */
export async function createHealthServer(
  options: HealthOptions,
): Promise<{ start: () => Promise<number>; stop: () => Promise<void> }> {
  const server: WebServer = await createWebServer({ log: options.log })
  server.get('/livez', async (_request, reply) => reply.type('text/plain').send('ok\n'))
  server.get('/readyz', async (_request, reply) => {
    const names = await failing(options.checks(), options.log)
    return reply
      .code(names.length === 0 ? 200 : 503)
      .type('text/plain')
      .send(names.length === 0 ? 'ok\n' : `not ready: ${names.join(', ')}\n`)
  })
  const { metrics } = options
  if (metrics) server.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()))
  return { start: () => listen(server, options.address), stop: () => server.close() }
}
