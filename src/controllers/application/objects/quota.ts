// What Kubernetes says when the quota of a namespace is used up, and what to do then. Pure.
// Source: https://kubernetes.io/docs/concepts/policy/resource-quotas/ (the text is that of the admission plugin ResourceQuota)

/** For the end of a message. */
export const quotaCure =
  'request less (replicas, cpu, memory, ephemeralStorage, size of volumes), delete what is not used, or ask a platform admin to raise spec.limits of the Tenant'

export function isQuotaMessage(message: string): boolean {
  return message.includes('exceeded quota')
}
