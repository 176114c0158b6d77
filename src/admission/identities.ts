// Who the platform is, as the API server sees it: the one place from which both the webhook's rules and the generated policies take
// their names. Authorisation here is by identity only; field managers are free text and prove nothing.
import { platformNamespace } from '../api/names.ts'

export type PlatformMode = 'standalone' | 'separate'

export type PlatformIdentities = {
  readonly brokers: readonly string[]
  readonly controllers: readonly string[]
  /** Kubernetes' own cleaners: they act when a namespace or an owner goes. */
  readonly reapers: readonly string[]
  /** A group of people that only a cluster administrator can give; GitHub groups are spelled `github|…` and cannot collide. */
  readonly platformAdminGroups: readonly string[]
}

const reapers = [
  'system:serviceaccount:kube-system:namespace-controller',
  'system:serviceaccount:kube-system:generic-garbage-collector',
]

function serviceAccount(name: string): string {
  return `system:serviceaccount:${platformNamespace}:${name}`
}

export function platformIdentities(mode: PlatformMode): PlatformIdentities {
  const platformAdminGroups = ['sekisho:platform-admins']
  switch (mode) {
    case 'standalone':
      return { brokers: [serviceAccount('sekisho')], controllers: [serviceAccount('sekisho')], reapers, platformAdminGroups }
    case 'separate':
      return {
        brokers: [serviceAccount('sekisho-broker')],
        controllers: [serviceAccount('sekisho-controllers')],
        reapers,
        platformAdminGroups,
      }
  }
}
