// The HTTPS server that answers AdmissionReviews: routes, limits, and nothing else. It answers by pure rules alone, so that it needs no
// credential and no database, and it says nothing beyond why: anybody in the cluster's network could call it.
import type { FastifyReply } from 'fastify'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { createWebServer, type WebServer } from '../web/server.ts'
import type { Certificate } from '../web/tls.ts'
import { type AdmissionResponse, fill, judge } from './dispatch.ts'
import type { PlatformIdentities } from './identities.ts'
import { admissionRequest } from './review.ts'
import { rules } from './rules/index.ts'

export type ReviewServerDeps = {
  readonly log: Log
  readonly certificate: Certificate
  readonly identities: PlatformIdentities
}

/** An object of 1.5 MB (etcd's limit) twice, escaped, with room to spare. */
const bodyLimit = 8 * 1024 * 1024

export async function createReviewServer({ log, certificate, identities }: ReviewServerDeps): Promise<WebServer> {
  // All requests come from the few API servers: a limit by address would refuse the whole cluster's writes.
  const server = await createWebServer({ log, certificate, bodyLimit, requestsPerMinute: 'unlimited' })
  const answer = (reply: FastifyReply, response: AdmissionResponse): FastifyReply =>
    reply.type('application/json').send(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }))
  // Objects are judged as they are: a field named __proto__ is one among others here, since nothing is merged and only own fields are read.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, next) => next(null, body))
  server.post('/validate', (request, reply) => {
    const deps = { rules, identities, log, elapsedMilliseconds: () => reply.elapsedTime }
    answer(reply, judge(deps, admissionRequest(parsed(request.body))))
  })
  server.post('/mutate', (request, reply) => {
    answer(reply, fill(admissionRequest(parsed(request.body))))
  })
  return server
}

function parsed(body: unknown): unknown {
  try {
    if (Buffer.isBuffer(body)) return JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw new AppError('invalid_request', 'the body is no JSON', { cause })
  }
  throw new AppError('invalid_request', 'the body is missing')
}
