// The HTTPS server that answers AdmissionReviews: routes and limits. It answers by pure rules, without a credential or the database, and
// discloses nothing but the reason of a refusal: client certificates or a network policy keep away all but API servers, and nothing here relies
// on that.
import type { FastifyReply } from 'fastify'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { limitBodies } from '../web/body-budget.ts'
import { createWebServer, type WebServer } from '../web/server.ts'
import type { Certificate } from '../web/tls.ts'
import type { FindSealer } from './app-secrets/public-key.ts'
import { type AdmissionResponse, evaluate, fill, record, seal } from './dispatch.ts'
import type { PlatformIdentities } from './identities.ts'
import { admissionRequest } from './review.ts'
import { ruleSets } from './rule-sets.ts'

/** What the server needs. */
export type ReviewServerDeps = {
  readonly log: Log
  readonly certificate: Certificate
  /** The common names of acceptable client certificates, where the certificate demands them. */
  readonly clientNames?: readonly string[]
  readonly identities: PlatformIdentities
  /** The public key for values of AppSecrets; without it they are refused. */
  readonly findSealer?: FindSealer
}

/** Room for two objects of 1.5 MB (etcd's limit), escaped. */
const bodyLimit = 8 * 1024 * 1024
/** An API server sends one review for each write in progress; most are a few KiB. Reviews are parsed on the thread that answers them. */
const budget = { requests: 64, bytes: 4 * bodyLimit, bodyLimit }
/** API servers keep a few connections each. */
const connections = { most: 256, mostOfClient: 128 }

/** A server that does not listen yet. */
export async function createReviewServer(deps: ReviewServerDeps): Promise<WebServer> {
  const { log, certificate, clientNames, identities, findSealer = async () => undefined } = deps
  // All requests come from a few API servers: a limit per address would refuse writes of the whole cluster.
  const limits = { bodyLimit, requestsPerMinute: 'unlimited', connections } as const
  const server = await createWebServer({ log, certificate, ...limits, ...(clientNames && { clientNames }) })
  limitBodies(server, budget)
  const answer = (reply: FastifyReply, response: AdmissionResponse): FastifyReply =>
    reply.type('application/json').send(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }))
  // A field named __proto__ is an ordinary field here: nothing is merged, and only own fields are read.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, next) => next(null, body))
  for (const { name, rules } of ruleSets)
    server.post(`/validate/${name}`, (request, reply) => {
      const deps = { rules, identities, log, elapsedMilliseconds: () => reply.elapsedTime }
      answer(reply, evaluate(deps, admissionRequest(parsed(request.body))))
    })
  server.post('/mutate', (request, reply) => {
    answer(reply, fill(admissionRequest(parsed(request.body))))
  })
  server.post('/mutate/changed-by', (request, reply) => {
    answer(reply, record(admissionRequest(parsed(request.body))))
  })
  server.post('/mutate/app-secrets', async (request, reply) =>
    answer(reply, await seal(admissionRequest(parsed(request.body)), findSealer)),
  )
  return server
}

function parsed(body: unknown): unknown {
  try {
    if (Buffer.isBuffer(body)) return JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw new AppError('invalid_request', 'the body is not JSON', { cause })
  }
  throw new AppError('invalid_request', 'the body is missing')
}
