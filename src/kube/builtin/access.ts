// Who may do what, and who somebody is: RBAC and the review kinds. A review is created to ask a question; it stores nothing.
import type { KubeObject } from '../../api/resource.ts'
import { clusterKind, namespacedKind } from './resource-type.ts'

export type PolicyRule = {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly verbs: readonly string[]
}

export type RoleSubject = {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  readonly apiGroup?: string
  readonly name: string
  readonly namespace?: string
}

export type RoleReference = { readonly apiGroup: string; readonly kind: 'Role' | 'ClusterRole'; readonly name: string }

const group = 'rbac.authorization.k8s.io/v1'

export type Role = KubeObject & { readonly rules?: readonly PolicyRule[] }
export const roles = namespacedKind<Role>(group, 'Role', 'roles')

export type RoleBinding = KubeObject & { readonly subjects?: readonly RoleSubject[]; readonly roleRef: RoleReference }
export const roleBindings = namespacedKind<RoleBinding>(group, 'RoleBinding', 'rolebindings')

export type ClusterRole = KubeObject & { readonly rules?: readonly PolicyRule[]; readonly aggregationRule?: object }
export const clusterRoles = clusterKind<ClusterRole>(group, 'ClusterRole', 'clusterroles')

export type ClusterRoleBinding = KubeObject & { readonly subjects?: readonly RoleSubject[]; readonly roleRef: RoleReference }
export const clusterRoleBindings = clusterKind<ClusterRoleBinding>(group, 'ClusterRoleBinding', 'clusterrolebindings')

export type UserInfo = {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** `spec.token` is a credential: it goes out in a body and comes back in none of our logs or errors. */
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

export type SubjectAccessReview = KubeObject & {
  readonly spec: {
    readonly user?: string
    readonly groups?: readonly string[]
    readonly resourceAttributes?: Readonly<Record<string, string>>
  }
  readonly status?: { readonly allowed: boolean; readonly denied?: boolean; readonly reason?: string }
}
export const subjectAccessReviews = clusterKind<SubjectAccessReview>(
  'authorization.k8s.io/v1',
  'SubjectAccessReview',
  'subjectaccessreviews',
)
