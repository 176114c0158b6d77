// How Kubernetes' own kinds are named in this folder: one call per kind, no fields beyond what `ResourceType` has.
import type { KubeObject, ResourceType } from '../resource.ts'

export function namespacedKind<T extends KubeObject>(apiVersion: string, kind: string, plural: string): ResourceType<T> {
  return { apiVersion, kind, plural, namespaced: true }
}

export function clusterKind<T extends KubeObject>(apiVersion: string, kind: string, plural: string): ResourceType<T> {
  return { apiVersion, kind, plural, namespaced: false }
}
