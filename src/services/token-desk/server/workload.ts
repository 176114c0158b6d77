// Identifies a workload by its projected ServiceAccount token: the API server's TokenReview must accept it, and the pod that it
// is bound to must run. Trusts nothing that the request says about itself; pod labels, addresses and forwarded headers do not
// count.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1/ and
// https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#bound-service-account-tokens
import { applicationOfAccount } from '../../../api/application-account.ts'
import { type Pod, pods, type TokenReview, tokenReviews } from '../../../api/builtin/index.ts'
import { tokenDeskAudience } from '../../../api/names.ts'
import { reviewedAccount } from '../../../identity/service-account-token.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import type { SecretString } from '../../../lib/secret-string.ts'
import type { TokenSubject } from '../../../store/token-registry.ts'
import { applicationOfPod } from './application-of-pod.ts'
import { isPlausibleBearer } from './plausible-bearer.ts'
import { createRequestLimits, type RequestLimits } from './request-limits.ts'

/** An identified workload, with the user name that Kubernetes knows it by, its pod and the address that it asked from. */
export type Workload = {
  readonly subject: TokenSubject
  readonly username: string
  readonly from: { readonly pod: { readonly name: string; readonly uid: string }; readonly address: string }
}

/** The token's claims, accepted by the API server. */
export type ReviewedToken = {
  readonly namespace: string
  readonly serviceAccount: string
  readonly serviceAccountUid: string
  readonly username: string
  readonly podName: string
  readonly podUid: string
}

type WorkloadDeps = {
  readonly client: Pick<KubeClient, 'create' | 'get'>
  readonly limits: RequestLimits
  readonly clock: Clock
}

const podNameKey = 'authentication.kubernetes.io/pod-name'
const podUidKey = 'authentication.kubernetes.io/pod-uid'
const refused = () =>
  new AppError('unauthenticated', 'a projected ServiceAccount token of a running pod, with audience sekisho, is needed')

export type IdentifyWorkload = (bearer: SecretString, address: string) => Promise<Workload>

/** `identifyWorkload` with limits of its own: one for all that serves workloads in this process. */
export function workloadIdentifier(deps: Omit<WorkloadDeps, 'limits'>): IdentifyWorkload {
  const limits = createRequestLimits(deps.clock)
  return (bearer, address) => identifyWorkload({ ...deps, limits }, bearer, address)
}

/**
 * The subject and the pod of a bearer token that came from `address`. What cannot be a token for us, and what is too
 * much, is refused before the API server is asked.
 * @throws AppError `unauthenticated`, always with the same message; `too_many_requests`; what the API server's client throws
 * when it cannot be reached
 */
async function identifyWorkload(deps: WorkloadDeps, bearer: SecretString, address: string): Promise<Workload> {
  if (!isPlausibleBearer(bearer, deps.clock.now())) throw refused()
  deps.limits.takeAddress(address)
  const { apiVersion, kind } = tokenReviews
  const review = await deps.limits.review(address, () =>
    deps.client.create<TokenReview>(
      tokenReviews,
      { apiVersion, kind, metadata: {}, spec: { token: bearer.reveal(), audiences: [tokenDeskAudience] } },
      { fieldManager: 'sekisho.dev/token-desk' },
    ),
  )
  const reviewed = readReview(review.status)
  if (reviewed === undefined) throw refused()
  deps.limits.takeNamespace(reviewed.namespace)
  const pod = await deps.client.get<Pod>(pods, { namespace: reviewed.namespace, name: reviewed.podName })
  if (pod === undefined || !isPodActive(pod, reviewed)) throw refused()
  const subject = await subjectOf(deps.client, pod, reviewed)
  if (subject === undefined) throw refused()
  const from = { pod: { name: reviewed.podName, uid: reviewed.podUid }, address }
  return { subject, username: reviewed.username, from }
}

/** A pod under the ServiceAccount of an Application is that Application's, or nobody's. */
async function subjectOf(
  client: WorkloadDeps['client'],
  pod: Pod,
  { namespace, serviceAccount: name, serviceAccountUid: uid }: ReviewedToken,
): Promise<TokenSubject | undefined> {
  if (applicationOfAccount(name) !== undefined) return applicationOfPod(client, pod, name)
  return { kind: 'ServiceAccount', namespace, name, uid }
}

/** Undefined unless the token belongs to a ServiceAccount, has our audience and is bound to a pod. Pure. */
export function readReview(status: TokenReview['status']): ReviewedToken | undefined {
  const account = reviewedAccount(status, tokenDeskAudience)
  const podName = account?.extra[podNameKey]?.[0]
  const podUid = account?.extra[podUidKey]?.[0]
  if (account === undefined || !podName || !podUid) return undefined
  const { namespace, name: serviceAccount, uid: serviceAccountUid, username } = account
  return { namespace, serviceAccount, serviceAccountUid, username, podName, podUid }
}

/** True for the very pod that the token was issued for (by uid), neither ending nor ended. Pure. */
export function isPodActive(pod: Pod | undefined, token: ReviewedToken): boolean {
  if (pod === undefined || pod.metadata.uid !== token.podUid || pod.metadata.deletionTimestamp !== undefined) return false
  if (pod.spec?.serviceAccountName !== token.serviceAccount) return false
  return pod.status?.phase === 'Pending' || pod.status?.phase === 'Running'
}
