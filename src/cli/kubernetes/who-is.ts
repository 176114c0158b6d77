// Who the person is for the API server.
import { clusterKind } from '../../api/builtin/resource-type.ts'
import { loginExtra } from '../../api/names.ts'
import type { KubeObject } from '../../api/resource.ts'
import { AppError } from '../../lib/errors.ts'
import { type Cluster, fieldManager } from './cluster.ts'

type SelfSubjectReview = KubeObject & { readonly status?: { readonly userInfo?: UserInfo } }
type UserInfo = { readonly username?: string; readonly extra?: Readonly<Record<string, readonly string[]>> }
/** https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/self-subject-review-v1/ */
const selfSubjectReviews = clusterKind<SelfSubjectReview>('authentication.k8s.io/v1', 'SelfSubjectReview', 'selfsubjectreviews')

/** The user name, and the login, where the API server says that. */
export async function whoIs({ client }: Cluster): Promise<{ readonly user: string; readonly login: string | undefined }> {
  const body = { apiVersion: selfSubjectReviews.apiVersion, kind: selfSubjectReviews.kind, metadata: {} }
  const review = await client.create(selfSubjectReviews, body, { fieldManager })
  const { username: user, extra } = review.status?.userInfo ?? {}
  if (user === undefined) throw new AppError('upstream_failed', 'the API server does not say who you are')
  return { user, login: extra?.[loginExtra]?.[0] || undefined }
}
