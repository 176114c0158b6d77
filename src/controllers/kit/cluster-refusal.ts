// What the API server refuses because of what an object says: a quota, a policy, the schema of its kind. Pure.
import { fitsNoSchema, isKubeError, lacksRight } from '../../kube/client/errors.ts'

export type ClusterRefusal = { readonly because: 'quota' | 'content'; readonly message: string }

/** For the end of a message about a quota of pods. */
export const quotaCure =
  'request less (replicas, cpu, memory, ephemeralStorage, size of volumes), delete what is not used, or ask a platform admin to raise spec.limits of the Tenant'

const maxMessage = 1000

/**
 * Source: https://kubernetes.io/docs/concepts/policy/resource-quotas/ (the text is that of the admission plugin
 * ResourceQuota)
 */
export function isQuotaMessage(message: string): boolean {
  return message.includes('exceeded quota')
}

/**
 * Why the API server refuses an object for good, for its author to fix.
 * @throws the error when a retry may succeed: a server that is busy, an expired credential, rights that are just being given,
 * a race that was lost
 */
export function clusterRefusal(
  { kind, metadata }: { readonly kind: string; readonly metadata: { readonly name?: string } },
  error: unknown,
): ClusterRefusal {
  if (!isKubeError(error) || [401, 409].includes(error.status ?? 0) || lacksRight(error)) throw error
  if (error.retryable && !fitsNoSchema(error)) throw error
  const message = `the cluster refuses ${kind} ${metadata.name}: ${error.message}`.slice(0, maxMessage)
  return { because: isQuotaMessage(error.message) ? 'quota' : 'content', message }
}
