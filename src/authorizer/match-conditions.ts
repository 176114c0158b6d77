// About which requests the API server asks, as CEL in its AuthorizationConfiguration. Nothing here may depend on a name: an
// unnamed list has none and returns every Secret.
import { platformNamespace } from '../api/names.ts'
import { kubernetesSubjects, platformUsers } from './named-subjects.ts'

function quoted(names: readonly string[]): string {
  return `[${names.map(name => `'${name}'`).join(', ')}]`
}

/**
 * All must hold. About Kubernetes' own components and the platform it does not ask at all, so that they go on at full speed
 * while the authorizer is slow or down.
 */
export const matchConditions: readonly string[] = [
  'has(request.resourceAttributes)',
  `!(request.user in ${quoted([...kubernetesSubjects.users, ...platformUsers])})`,
  `!has(request.groups) || !request.groups.exists(group, group in ${quoted(kubernetesSubjects.groups)})`,
  [
    "request.resourceAttributes.resource == 'secrets'",
    `request.resourceAttributes.namespace == '${platformNamespace}'`,
    "request.resourceAttributes.verb.startsWith('impersonate')",
    "(request.resourceAttributes.resource == 'serviceaccounts' && request.resourceAttributes.subresource == 'token')",
  ].join(' || '),
]
