// The credentials of a service as people see them: whose each is, how old, and how it stands. Names and times only: what a
// credential is, no API shows. Pure.
import type { ServiceBinding } from '../../../api/services/service-binding.ts'
import { controllerOf } from '../../../kube/object/owner.ts'
import { applications } from '../../kubernetes/kinds.ts'
import { age } from '../../output.ts'
import { verdict } from '../application/status.ts'

export type Credential = {
  readonly binding: string
  readonly access: ServiceBinding['spec']['access']
  /** The Application that owns it; null for one of a person. */
  readonly application: string | null
  readonly version: number | null
  /** The name of the Secret that pods refer to; null before the first delivery. */
  readonly secret: string | null
  readonly ready: boolean
  readonly reason: string
  readonly message: string
  /** Those that work or are being made, two at most. */
  readonly slots: readonly { readonly state: string; readonly issuedAt: string; readonly until: string | null }[]
}

export function credentialOf(binding: ServiceBinding): Credential {
  const { metadata, spec, status } = binding
  const owner = controllerOf(binding)
  return {
    binding: metadata.name,
    access: spec.access,
    application: owner?.kind === applications.kind ? owner.name : null,
    version: status?.version ?? null,
    secret: status?.binding?.name ?? null,
    ...verdict(binding),
    slots: (status?.slots ?? []).map(({ state, issuedAt, until }) => ({ state, issuedAt, until: until ?? null })),
  }
}

/** `4d, and one from 5d that works for 40m more`. */
export function agesText({ slots }: Credential, now: Date): string {
  const texts = slots.map(({ state, issuedAt, until }) => {
    const old = age(issuedAt, now)
    if (state === 'Making') return 'one is being made'
    if (state === 'Closed') return `the platform closed one, ${old} old`
    return state === 'Draining' ? `the former one, ${old} old, ${endText(until, now)}` : `${old} old`
  })
  return texts.length === 0
    ? 'none yet'
    : texts.toSorted((a, b) => Number(a.startsWith('the')) - Number(b.startsWith('the'))).join('; ')
}

/** When a credential that was replaced ends. */
export function endText(until: string | null, now: Date): string {
  if (until === null || Date.parse(until) <= now.getTime()) return 'is being ended'
  const minutes = Math.ceil((Date.parse(until) - now.getTime()) / 60_000)
  return `works for ${minutes < 120 ? `${minutes}m` : `${Math.ceil(minutes / 60)}h`} more at most`
}
