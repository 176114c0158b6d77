// The ServiceAccount of an Application that a RepositoryGrant names: the platform makes it, the Application's pods alone run
// under it, and by it the token desk and admission know them (docs/adr/0092-a-grant-for-an-application.md).

/** ServiceAccounts whose names begin with this are the platform's: admission refuses every use of them by others. */
export const applicationAccountPrefix = 'sekisho-app-'

/** The ServiceAccount of the Application of that name. Names of Applications have at most 63 characters: no two share one. */
export function applicationAccount(application: string): string {
  return `${applicationAccountPrefix}${application}`
}

/** The inverse of `applicationAccount`; undefined for other ServiceAccounts. */
export function applicationOfAccount(account: string): string | undefined {
  return account.startsWith(applicationAccountPrefix) ? account.slice(applicationAccountPrefix.length) : undefined
}

/** How grants name the pods under a ServiceAccount as their subject: `Application/shop`, or `ServiceAccount/ci`. */
export function subjectOfAccount(account: string): string {
  const application = applicationOfAccount(account)
  return application === undefined ? `ServiceAccount/${account}` : `Application/${application}`
}

/** The ConfigMap by which workloads trust the token desk, as they trust the API server by kube-root-ca.crt. */
export const authorityConfigMap = 'sekisho-ca'

/** What the platform adds to pods under such a ServiceAccount: the files by which a program asks the token desk. */
export const identityFiles = {
  /** The projected token of the ServiceAccount, for the audience of the token desk. */
  identity: { volume: 'sekisho-identity', folder: '/var/run/sekisho', file: 'token' },
  /** The authorities that signed the certificate of the token desk. */
  authority: { volume: 'sekisho-authority', folder: '/var/run/sekisho-ca' },
} as const
