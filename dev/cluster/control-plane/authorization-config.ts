// The API server's structured authorization file: Node, then an optional webhook that can only deny, then RBAC. The order
// matters: RBAC allows at once, so a webhook behind it would never be asked (Kubernetes "Authorization", file configuration).
import { stringify } from 'yaml'

export type AuthorizationWebhook = {
  readonly name: string
  /** Absolute path of a kubeconfig whose server URL is the webhook's address. */
  readonly kubeConfigFile: string
  /** CEL over the request; the webhook is asked only when all are true. Guard with has(request.resourceAttributes). */
  readonly matchConditions: readonly string[]
  readonly timeoutSeconds: number
}

/** The file's text, without the webhook when there is none. The API server reloads the file when it is replaced by rename. */
export function authorizationConfiguration(webhook?: AuthorizationWebhook): string {
  const slot =
    webhook === undefined
      ? []
      : [
          {
            type: 'Webhook',
            name: webhook.name,
            webhook: {
              timeout: `${webhook.timeoutSeconds}s`,
              cacheAuthorizedRequests: false,
              cacheUnauthorizedRequests: false,
              subjectAccessReviewVersion: 'v1',
              matchConditionSubjectAccessReviewVersion: 'v1',
              failurePolicy: 'Deny',
              connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: webhook.kubeConfigFile },
              matchConditions: webhook.matchConditions.map(expression => ({ expression })),
            },
          },
        ]
  return stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthorizationConfiguration',
    authorizers: [{ type: 'Node', name: 'node' }, ...slot, { type: 'RBAC', name: 'rbac' }],
  })
}
