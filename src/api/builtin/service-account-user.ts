// https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/

/** The user name of a ServiceAccount. */
export function serviceAccountUser(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`
}

/** Whether a user name is that of a ServiceAccount: the API server lets nobody else have such a name. */
export function isServiceAccountUser(user: string): boolean {
  return /^system:serviceaccount:[^:]+:[^:]+$/.test(user)
}
