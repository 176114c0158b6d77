// Owns: what a test may do and real GitHub has no API for: make people, and arm faults. Guarded by a token of its own, so that nothing
// that merely reaches the port can use it. The demo never calls it.
import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { Refusal } from '../actions/outcome.ts'
import type { Context } from '../context.ts'
import { RestError } from '../rest/protocol/answer.ts'
import { fieldsOf } from '../rest/protocol/body.ts'
import { addUser } from './add-user.ts'
import { faultOf } from './fault-of.ts'

/** Whether the text is the control token. */
export const isControlToken = (context: Context, text: string): boolean => {
  const [given, expected] = [Buffer.from(text), Buffer.from(context.controlToken)]
  return given.length === expected.length && timingSafeEqual(given, expected)
}

export const registerControl = (server: FastifyInstance, context: Context): void => {
  server.addHook('onRequest', async (request, reply) => {
    if (!isControlToken(context, request.headers.authorization?.replace(/^bearer /i, '') ?? ''))
      await reply.code(401).send({ message: 'The control token is missing or wrong.' })
  })
  server.setErrorHandler((error, _request, reply) => {
    if (error instanceof RestError) return reply.code(error.status).send({ message: error.message, errors: error.errors })
    if (error instanceof Refusal) return reply.code(error.status).send({ message: error.message })
    throw error
  })

  server.post('/users', async request => {
    const added = addUser(context, fieldsOf(request.body, 'User'))
    await context.store.durable()
    return added
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
