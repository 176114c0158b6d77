// The API server's structured authorization file: Node, then the place of a webhook that can only deny, then RBAC.
// Pure. The order is the wall: a webhook behind RBAC would be asked too late (Kubernetes "Authorization", file configuration).
import { stringify } from 'yaml'

export type AuthorizationWebhook = {
  readonly name: string
  /** Absolute path of a kubeconfig whose server URL is the webhook's address. */
  readonly kubeConfigFile: string
  /** CEL over the request; all must be true for the webhook to be asked. Guard with has(request.resourceAttributes). */
  readonly matchConditions: readonly string[]
  readonly timeoutSeconds: number
}

/** The file's text. Without a webhook its place stays empty; the API server reloads the file when it is replaced by rename. */
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
