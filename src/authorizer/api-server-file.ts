// The AuthorizationConfiguration of API servers, which `npm run generate` writes into deploy/authorizer. Data only.
// https://kubernetes.io/docs/reference/access-authn-authz/authorization/#using-configuration-file-for-authorization
import { matchConditions } from './match-conditions.ts'

/** Where the guide puts the kubeconfig by which API servers call the authorizer. */
export const kubeConfigFile = '/etc/kubernetes/authorizer/authorizer.kubeconfig'

/**
 * Before RBAC, which allows at once and whose answer would be final. Nothing is kept, so that every answer is of now. A
 * failure is no opinion, so that the cluster goes on without the authorizer (docs/adr/0096-reads-are-denied-before-rbac.md).
 */
export const authorizationConfiguration = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AuthorizationConfiguration',
  authorizers: [
    { type: 'Node', name: 'node' },
    {
      type: 'Webhook',
      name: 'sekisho',
      webhook: {
        timeout: '3s',
        failurePolicy: 'NoOpinion',
        cacheAuthorizedRequests: false,
        cacheUnauthorizedRequests: false,
        subjectAccessReviewVersion: 'v1',
        matchConditionSubjectAccessReviewVersion: 'v1',
        connectionInfo: { type: 'KubeConfigFile', kubeConfigFile },
        matchConditions: matchConditions.map(expression => ({ expression })),
      },
    },
    { type: 'RBAC', name: 'rbac' },
  ],
} as const
