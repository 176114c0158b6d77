// What the platform knows about the enforcement of network policies, and how it is kept: one ConfigMap in the platform's
// namespace, from which the conditions of Tenants are made. Pure.
import type { ConfigMap } from '../../api/builtin/index.ts'

const verdicts = ['Enforced', 'NotEnforced', 'Unknown'] as const
/** `Unknown`: the probe did not answer where it must, so silence elsewhere proves nothing. */
export type Verdict = (typeof verdicts)[number]

export type Enforcement = { readonly ingress: Verdict; readonly egress: Verdict }

/** Which ports of the probe accepted a connection. */
export type Reached = { readonly allowed: boolean; readonly ingress: boolean; readonly egress: boolean }

/** The ConfigMap in the platform's namespace. */
export const enforcementConfigMap = 'sekisho-network-status'

/** An open connection is a proof; a missing one only together with a connection to the same pod that is allowed. */
export function enforcementOf(reached: Reached): Enforcement {
  const verdict = (open: boolean): Verdict => (open ? 'NotEnforced' : reached.allowed ? 'Enforced' : 'Unknown')
  return { ingress: verdict(reached.ingress), egress: verdict(reached.egress) }
}

export function isEnforced({ ingress, egress }: Enforcement): boolean {
  return ingress === 'Enforced' && egress === 'Enforced'
}

/** What was recorded last; unknown when nothing was, or something else. */
export function recordedEnforcement(record: ConfigMap | undefined): Enforcement {
  const read = (key: keyof Enforcement): Verdict => verdicts.find(verdict => verdict === record?.data?.[key]) ?? 'Unknown'
  return { ingress: read('ingress'), egress: read('egress') }
}
