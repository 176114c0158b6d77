// https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/

/** The user name of a ServiceAccount. */
export function serviceAccountUser(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`
}
