// Constructors of ResourceTypes for the kinds of Kubernetes.
import type { KubeObject, ResourceType } from '../resource.ts'

/** A kind whose objects live in namespaces. */
export function namespacedKind<T extends KubeObject>(apiVersion: string, kind: string, plural: string): ResourceType<T> {
  return { apiVersion, kind, plural, namespaced: true }
}

/** A kind whose objects are cluster-scoped. */
export function clusterKind<T extends KubeObject>(apiVersion: string, kind: string, plural: string): ResourceType<T> {
  return { apiVersion, kind, plural, namespaced: false }
}
