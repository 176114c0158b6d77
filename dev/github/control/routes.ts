// The control API under `/_emulator`: lists, arms and disarms faults, for which GitHub has no API. It needs its own token, so
// that reaching the port is not enough to use it.
import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Faults } from '../faults/faults.ts'
import { RestError } from '../rest/protocol/answer.ts'
import { Refusal } from '../state/refusal.ts'
import { faultOf } from './fault-of.ts'

export type ControlContext = {
  readonly faults: Faults
  /** Bearer token of the control API. */
  readonly controlToken: string
}

function isControlToken(context: ControlContext, text: string): boolean {
  const [given, expected] = [Buffer.from(text), Buffer.from(context.controlToken)]
  return given.length === expected.length && timingSafeEqual(given, expected)
}

export function registerControl(server: FastifyInstance, context: ControlContext): void {
  server.addHook('onRequest', async (request, reply) => {
    if (!isControlToken(context, request.headers.authorization?.replace(/^bearer /i, '') ?? ''))
      await reply.code(401).send({ message: 'The control token is missing or wrong.' })
  })
  server.setErrorHandler((error, _request, reply) => {
    if (error instanceof RestError) return reply.code(error.status).send({ message: error.message, errors: error.errors })
    if (error instanceof Refusal) return reply.code(error.status).send({ message: error.message })
    throw error
  })

  server.get('/faults', () => ({ faults: context.faults.list() }))
  server.post('/faults', request => {
    const { fault, times, seconds } = faultOf(request.body)
    return { id: context.faults.arm(fault, times, seconds) }
  })
  server.delete('/faults', (_request, reply) => {
    context.faults.reset()
    return reply.code(204).send()
  })
  server.delete('/faults/:id', (request, reply) => {
    const { id } = request.params as { id: string }
    return reply.code(context.faults.disarm(Number(id)) ? 204 : 404).send()
  })
}
