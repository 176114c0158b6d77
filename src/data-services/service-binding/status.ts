// The status of a ServiceBinding: names, times and states, never a credential. Pure.
import { bindingSecretName } from '../../api/services/binding-secret.ts'
import { endCauses, serviceBindingReasons as reasons, type ServiceBinding } from '../../api/services/service-binding.ts'
import { findCondition, mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import { compareText } from '../../lib/text/compare-text.ts'
import type { Refusal } from '../../policy/check.ts'
import type { Slot } from '../slots/slots.ts'
import { successorFrom } from './decide.ts'

export type ServiceBindingStatus = NonNullable<ServiceBinding['status']>

/** What a step came to. */
export type Observation = {
  readonly slots: readonly Slot[]
  /** The credential that the Secret holds now, when it holds one that works. */
  readonly delivered: { readonly version: number; readonly principal: string } | undefined
  readonly refusal?: Refusal
  /** What is the matter with its service, of which its credential goes on and is replaced. */
  readonly remark?: Refusal | undefined
  /** False when the last proof failed; undefined when none was made since. */
  readonly proven?: boolean
}

/** Equal to the status before when nothing changed, whatever `now` is. */
export function nextStatus(binding: ServiceBinding, observation: Observation, now: Date): ServiceBindingStatus {
  const { metadata, status: before } = binding
  const generation = metadata.generation ?? 1
  const { slots, delivered } = observation
  const version = delivered?.version ?? before?.version
  const principal = delivered?.principal ?? before?.principal
  const name = bindingSecretName(metadata.name)
  const ended = endedOf(before, slots, now)
  const refusal = observation.refusal ?? closingOf(before, slots, ended)
  const conditions = conditionsOf(binding, { ...observation, ...defined({ refusal }) })
  return {
    observedGeneration: generation,
    conditions: mergeConditions(before?.conditions, conditions, generation, now),
    ...defined({ version, principal }),
    ...(delivered !== undefined || before?.binding !== undefined ? { binding: { name } } : {}),
    ...defined({ ended }),
    slots: [...slots]
      .sort((a, b) => compareText(a.slot, b.slot))
      .map(({ slot, state, issuedAt, until }) => ({
        slot,
        state,
        issuedAt: issuedAt.toISOString(),
        ...(until && { until: until.toISOString() }),
      })),
  }
}

const maxEnded = 8
type Ended = ServiceBindingStatus['ended']

/** What is said until another credential takes the place of one that the platform closed. */
function closingOf(before: ServiceBinding['status'], slots: readonly Slot[], ended: Ended): Refusal | undefined {
  const isClosing = slots.some(({ state }) => state === 'Closed')
  const isNoneLeft = slots.every(({ state }) => state === 'Making')
  if (!isClosing && !(isNoneLeft && ended?.[0]?.cause !== undefined)) return undefined
  const from = isClosing ? undefined : successorFrom(ended)
  const message = `the platform closed ${before?.principal ?? 'the credential'}: its sessions had taken most locks of the server, which all of its databases share: take fewer at a time. Another one is made ${from === undefined ? 'now' : `at ${from.toISOString()}`}`
  return { reason: reasons.lockTableFilled, message }
}

/** Those that were delivered and are recorded no more have ended. */
export function endedOf(before: ServiceBinding['status'], slots: readonly Pick<Slot, 'slot' | 'issuedAt'>[], now: Date): Ended {
  const isLeft = (slot: string, issuedAt: Date): boolean =>
    slots.some(one => one.slot === slot && one.issuedAt.getTime() === issuedAt.getTime())
  const gone = (before?.slots ?? []).filter(one => one.state !== 'Making' && !isLeft(one.slot, new Date(one.issuedAt)))
  if (gone.length === 0) return before?.ended
  const ended = gone.map(({ slot, issuedAt, state }) => ({
    slot,
    issuedAt,
    endedAt: now.toISOString(),
    ...(state === 'Closed' && { cause: endCauses[0] }),
  }))
  return [...ended, ...(before?.ended ?? [])].slice(0, maxEnded)
}

function conditionsOf(
  binding: ServiceBinding,
  { delivered, refusal, remark, proven, slots }: Observation,
): readonly WantedCondition[] {
  const issuing = { reason: reasons.issuing, message: 'the platform is making a credential' }
  const good = { reason: reasons.delivered, message: 'the Secret holds a credential that the platform has tried' }
  const now = refusal ?? (delivered === undefined ? issuing : good)
  const known = findCondition(binding.status?.conditions, 'Proven')
  const issued = slots.some(({ state }) => state !== 'Making' && state !== 'Closed')
  const isProven = proven ?? (delivered !== undefined || known?.status === 'True')
  return [
    { type: 'Issued', status: issued ? 'True' : 'False', ...(issued ? good : now) },
    { type: 'Proven', status: isProven ? 'True' : 'False', ...(isProven ? good : now) },
    // A credential that was delivered goes on while another one cannot be made.
    {
      type: 'Ready',
      status: delivered === undefined ? 'False' : 'True',
      ...(delivered === undefined ? now : said(good, refusal ?? remark)),
    },
  ]
}

function said({ reason, message }: Refusal, remark: Refusal | undefined): Refusal {
  return { reason, message: remark === undefined ? message : `${message}; ${remark.message}` }
}
