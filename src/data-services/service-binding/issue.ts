// Makes a credential, tries it, and delivers it, in this order. What was not proven never reaches the Secret, and ends on the
// server.
import { type Secret, secrets } from '../../api/builtin/index.ts'
import { noVersion } from '../../api/resource.ts'
import { serviceBindingReasons as reasons } from '../../api/services/service-binding.ts'
import { clusterRefusal } from '../../controllers/kit/cluster-refusal.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Refusal } from '../../policy/check.ts'
import type { Credentials, Key } from '../credentials/credentials.ts'
import { credentialsOf } from '../credentials/of-binding.ts'
import type { Slot } from '../slots/slots.ts'
import { isOwn, type Ready } from './decide.ts'
import { type Delivery, desiredSecret, isAsDesired, storedKey, versionOf } from './desired.ts'
import type { Facts } from './gather.ts'

export const fieldManager = 'sekisho.dev/service-binding'

type Deps = { readonly client: Pick<KubeClient, 'apply'> }

/** Undefined when the Secret holds it. Rejects with the error of the server when it cannot be asked, or a conflict. */
export async function issue(deps: Deps, facts: Facts, { opened, id, plan }: Ready, slot: Slot): Promise<Refusal | undefined> {
  const credentials = credentialsOf(opened, facts.binding, id)
  const { key, prove } = await credentials.make(slot.slot, plan)
  const proof = await prove()
  if (proof.kind !== 'proven') {
    await credentials.drop(slot.slot)
    return { reason: proof.kind === 'wider' ? reasons.widerThanAsked : reasons.narrowerThanAsked, message: proof.message }
  }
  const held = { slot: slot.slot, issuedAt: slot.issuedAt }
  const refusal = await apply(deps, facts, deliveryOf(credentials, facts, held, key))
  if (refusal !== undefined) await credentials.drop(slot.slot)
  return refusal
}

/** Writes the Secret again, with the key that it has, when the server moved or somebody changed it. */
export async function refresh(
  deps: Deps,
  facts: Facts,
  { opened, id }: Ready,
  slot: Delivery['slot'],
): Promise<{ readonly changed: boolean; readonly refusal: Refusal | undefined }> {
  const { secret, binding } = facts
  const key = storedKey(secret, binding.spec.service.kind)
  if (secret === undefined || key === undefined) return { changed: false, refusal: undefined }
  const delivery = deliveryOf(credentialsOf(opened, binding, id), facts, slot, key)
  if (isAsDesired(secret, desiredSecret(binding, delivery))) return { changed: false, refusal: undefined }
  return { changed: true, refusal: await apply(deps, facts, delivery) }
}

function deliveryOf({ type, valuesOf }: Credentials, facts: Facts, slot: Delivery['slot'], key: Key): Delivery {
  return { slot, version: nextVersion(facts), type, values: valuesOf(slot.slot, key) }
}

function nextVersion({ secret, binding }: Facts): number {
  return Math.max(versionOf(secret), binding.status?.version ?? 0) + 1
}

async function apply({ client }: Deps, facts: Facts, delivery: Delivery): Promise<Refusal | undefined> {
  const desired = desiredSecret(facts.binding, delivery)
  const object = { ...desired, metadata: { ...desired.metadata, ...placeOf(isOwn(facts) ? facts.secret : undefined) } }
  try {
    await client.apply(secrets, object, { fieldManager, force: true })
    return undefined
  } catch (error) {
    // The namespace is gone, or the Secret that was to be changed.
    if (isKubeError(error, 404)) throw error
    return { reason: reasons.refusedByCluster, message: clusterRefusal(desired, error).message }
  }
}

/** One that was written since it was read is not overwritten: another process would have made that key. */
function placeOf(secret: Secret | undefined): { readonly resourceVersion?: string; readonly uid?: string } {
  if (secret === undefined) return { resourceVersion: noVersion }
  const { resourceVersion, uid } = secret.metadata
  return defined({ resourceVersion, uid })
}
