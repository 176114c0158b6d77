// The Secret of a ServiceBinding, for pods of its namespace. Pure. Admission keeps tenants from writing it; RBAC from reading it.
import { type Secret, secrets } from '../../api/builtin/index.ts'
import { domain } from '../../api/kind.ts'
import { labels } from '../../api/names.ts'
import {
  bindingKeyEntries,
  bindingSecretName,
  bindingSecretType,
  bindingVersionAnnotation,
} from '../../api/services/binding-secret.ts'
import type { ServiceType } from '../../api/services/provider.ts'
import type { BoundKind, ServiceBinding } from '../../api/services/service-binding.ts'
import type { Applied } from '../../kube/client/client.ts'
import { ownerReference } from '../../kube/object/owner.ts'
import { asObject, parseJson, textAt } from '../../lib/json/json-value.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { SecretString } from '../../lib/secret-string.ts'
import type { Key, Values } from '../credentials/credentials.ts'
import type { SlotFacts } from '../slots/slots.ts'

/** Which slot the Secret holds, and when making it began; written together with the key. */
export const heldAnnotation = `${domain}/binding-slot`

export type Delivery = {
  readonly slot: NonNullable<SlotFacts['held']>
  readonly version: number
  readonly type: ServiceType
  readonly values: Values
}

/** To apply. Its values are plain base64: pass it to the client and to nothing else. */
export function desiredSecret(binding: ServiceBinding, delivery: Delivery): Applied & Pick<Secret, 'data'> {
  const { apiVersion, kind } = secrets
  const { namespace = '', name } = binding.metadata
  const { slot, issuedAt } = delivery.slot
  return {
    apiVersion,
    kind,
    metadata: {
      namespace,
      name: bindingSecretName(name),
      labels: { [labels.managedBy]: 'sekisho' },
      annotations: {
        [bindingVersionAnnotation]: String(delivery.version),
        [heldAnnotation]: JSON.stringify({ slot, issuedAt: issuedAt.toISOString() }),
      },
      ownerReferences: [ownerReference(binding, { controller: true })],
    },
    type: bindingSecretType[delivery.type],
    data: Object.fromEntries(
      Object.entries(delivery.values).map(([key, value]) => [
        key,
        Buffer.from(typeof value === 'string' ? value : value.reveal(), 'utf8').toString('base64'),
      ]),
    ),
  }
}

/** Whether the Secret has exactly these values, so that nothing has to be written. */
export function isAsDesired(secret: Secret, desired: ReturnType<typeof desiredSecret>): boolean {
  return sameJson(secret.data ?? {}, desired.data)
}

/** What the Secret says that it holds, when it has the key for it. */
export function heldBy(secret: Secret | undefined, kind: BoundKind): SlotFacts['held'] {
  const stored = asObject(parseJson(secret?.metadata.annotations?.[heldAnnotation] ?? ''))
  const [slot, issuedAt] = [textAt(stored, 'slot'), new Date(textAt(stored, 'issuedAt') ?? '')]
  if ((slot !== 'a' && slot !== 'b') || Number.isNaN(issuedAt.getTime())) return undefined
  return storedKey(secret, kind) && { slot, issuedAt }
}

/** The key of the credential that the Secret holds; undefined when a part of it is not there. */
export function storedKey(secret: Secret | undefined, kind: BoundKind): Key | undefined {
  const stored = bindingKeyEntries[kind].map(entry => [entry, secret?.data?.[entry]] as const)
  const found = stored.flatMap(([entry, value]) =>
    value === undefined ? [] : [[entry, new SecretString(Buffer.from(value, 'base64').toString('utf8'))] as const],
  )
  return found.length === stored.length ? Object.fromEntries(found) : undefined
}

/** 0 for a Secret that has none. */
export function versionOf(secret: Secret | undefined): number {
  const version = Number(secret?.metadata.annotations?.[bindingVersionAnnotation] ?? 0)
  return Number.isSafeInteger(version) ? version : 0
}
