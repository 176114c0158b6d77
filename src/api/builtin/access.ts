// RBAC, and the kinds that review credentials. A review is created to get an answer in its status; the API server does not
// store it.
import type { KubeObject } from '../resource.ts'
import { clusterKind, namespacedKind } from './resource-type.ts'

export type RoleSubject = {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  readonly apiGroup?: string
  readonly name: string
  readonly namespace?: string
}

export type RoleReference = { readonly apiGroup: string; readonly kind: 'Role' | 'ClusterRole'; readonly name: string }

const group = 'rbac.authorization.k8s.io/v1'

export type RoleBinding = KubeObject & { readonly subjects?: readonly RoleSubject[]; readonly roleRef: RoleReference }
export const roleBindings = namespacedKind<RoleBinding>(group, 'RoleBinding', 'rolebindings')

export type UserInfo = {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** `spec.token` is a credential. It is sent in a request body and must not appear in logs or errors. */
export type TokenReview = KubeObject & {
  readonly spec: { readonly token: string; readonly audiences?: readonly string[] }
  readonly status?: {
    readonly authenticated?: boolean
    readonly user?: UserInfo
    readonly audiences?: readonly string[]
    readonly error?: string
  }
}
export const tokenReviews = clusterKind<TokenReview>('authentication.k8s.io/v1', 'TokenReview', 'tokenreviews')

/**
 * Asks what RBAC, and any other authorizer, answers for a user:
 * https://kubernetes.io/docs/reference/access-authn-authz/authorization/
 */
export type SubjectAccessReview = KubeObject & {
  readonly spec: {
    readonly user: string
    readonly groups?: readonly string[]
    /** Without a namespace: in all of them; without a name: on all objects. */
    readonly resourceAttributes: {
      readonly group: string
      readonly resource: string
      readonly subresource?: string
      readonly verb: string
      readonly namespace?: string
      readonly name?: string
    }
  }
  readonly status?: { readonly allowed: boolean; readonly denied?: boolean; readonly reason?: string }
}
export const subjectAccessReviews = clusterKind<SubjectAccessReview>(
  'authorization.k8s.io/v1',
  'SubjectAccessReview',
  'subjectaccessreviews',
)
