// The URL path of a resource on the API server. Rejects names that would change the path's meaning.
// Source: Kubernetes API concepts, "Resource URIs"; allowed names: k8s.io/apimachinery path segment rule. Pure.
import type { ObjectKey, ResourceType } from '../../api/resource.ts'
import { AppError } from '../../lib/errors.ts'

function segment(value: string, what: string): string {
  if (value === '' || value === '.' || value === '..' || /[/%]/.test(value))
    throw new AppError('invalid_request', `${what} ${JSON.stringify(value)} is not a valid object name`)
  return encodeURIComponent(value)
}

/** The path of all objects of a kind; without `namespace`, of all namespaces. Throws `invalid_request` for an invalid name. */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const root = type.apiVersion.includes('/') ? `/apis/${type.apiVersion}` : `/api/${type.apiVersion}`
  if (namespace === undefined) return `${root}/${type.plural}`
  if (!type.namespaced) throw new AppError('invalid_request', `${type.kind} is cluster-wide and takes no namespace`)
  return `${root}/namespaces/${segment(namespace, 'namespace')}/${type.plural}`
}

/** The path of one object. Throws `invalid_request` for an invalid name, or when the namespace is missing or superfluous. */
export function objectPath(type: ResourceType, key: ObjectKey, subresource?: 'status' | 'log'): string {
  if (type.namespaced && key.namespace === undefined)
    throw new AppError('invalid_request', `${type.kind} ${key.name} needs a namespace`)
  const path = `${collectionPath(type, key.namespace)}/${segment(key.name, 'name')}`
  return subresource === undefined ? path : `${path}/${subresource}`
}
