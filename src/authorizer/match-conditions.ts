// About which requests the API server asks, as CEL in its AuthorizationConfiguration. Nothing here may depend on a name: an
// unnamed list has none and returns every Secret.
import { platformNamespaces } from '../api/names.ts'
import { celList } from '../lib/text/cel.ts'
import { kubernetesSubjects, platformUsers } from './named-subjects.ts'

/**
 * All must hold. About Kubernetes' own components and the platform it does not ask at all, so that they go on at full speed
 * while the authorizer is slow or down.
 */
export const matchConditions: readonly string[] = [
  'has(request.resourceAttributes)',
  `!(request.user in ${celList([...kubernetesSubjects.users, ...platformUsers])})`,
  `!has(request.groups) || !request.groups.exists(group, group in ${celList(kubernetesSubjects.groups)})`,
  [
    "request.resourceAttributes.resource == 'secrets'",
    `request.resourceAttributes.namespace in ${celList(platformNamespaces)}`,
    "request.resourceAttributes.verb.startsWith('impersonate')",
    "(request.resourceAttributes.resource == 'serviceaccounts' && request.resourceAttributes.subresource == 'token')",
  ].join(' || '),
]
