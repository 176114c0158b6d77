// The HTTPS server that answers AdmissionReviews: routes and limits. It answers by pure rules, without a credential or the
// database, and discloses nothing but the reason of a refusal: client certificates or a network policy keep away all but API
// servers, and nothing here relies on that.
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { createPostServer, jsonOf, type PostRoute, type PostServer } from '../web/post-server.ts'
import type { Certificate } from '../web/tls.ts'
import type { FindSealer } from './app-secrets/public-key.ts'
import { type AdmissionResponse, evaluate, fill, record, seal, warn } from './dispatch.ts'
import { type AdmissionRequest, admissionRequest } from './review.ts'
import { ruleSets } from './rule-sets.ts'

/** What the server needs. */
export type ReviewServerDeps = {
  readonly log: Log
  readonly certificate: Certificate
  /** The common names of acceptable client certificates, where the certificate demands them. */
  readonly clientNames?: readonly string[]
  /** The public key for values of AppSecrets; without it they are refused. */
  readonly findSealer?: FindSealer
  /** Called for each request; `last` closes its connection after the answer. */
  readonly onRequest?: () => 'more' | 'last'
}

/** Room for two objects of 1.5 MB (etcd's limit), escaped. */
const bodyLimit = 8 * 1024 * 1024
/**
 * An API server sends a review for each write in progress and each webhook that it concerns (six for a pod), and opens a
 * connection for each that is in progress; of each webhook it keeps 25 that wait. One that is refused, or ended as it is used, is
 * a write that fails: there is room for 200 writes in progress, its default.
 * https://pkg.go.dev/net/http#Transport , https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/
 * (--max-mutating-requests-inflight)
 */
const connections = { most: 4096, maxOfClient: 2048 }
/** Most reviews are a few KiB: what bounds their memory is the bytes. They are parsed on the thread that answers them. */
const budget = { requests: connections.maxOfClient, bytes: 4 * bodyLimit, bodyLimit }

/** A server that does not listen yet. */
export function createReviewServer(deps: ReviewServerDeps): PostServer {
  const { findSealer = async () => undefined, ...served } = deps
  const routes = new Map<string, PostRoute>([
    ['/mutate', body => answered(fill(reviewed(body)))],
    ['/mutate/changed-by', body => answered(record(reviewed(body)))],
    ['/warn/policies', body => answered(warn(reviewed(body)))],
    ['/mutate/app-secrets', async body => answered(await seal(reviewed(body), findSealer))],
  ])
  for (const { name, rules } of ruleSets)
    routes.set(`/validate/${name}`, (body, elapsedMilliseconds) =>
      answered(evaluate({ rules, log: deps.log, elapsedMilliseconds }, reviewed(body))),
    )
  // All requests come from a few API servers: a limit per address would refuse writes of the whole cluster.
  return createPostServer({ ...served, routes, budget, connections })
}

function answered(response: AdmissionResponse): string {
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response })
}

function reviewed(body: Buffer): AdmissionRequest {
  if (body.length === 0) throw new AppError('invalid_request', 'the body is missing')
  return admissionRequest(jsonOf(body))
}
