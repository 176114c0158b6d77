// The Secret of a ServiceBinding, for pods of its namespace. Pure. Admission keeps tenants from writing it; RBAC from reading it.
import { type Secret, secrets } from '../../api/builtin/index.ts'
import { domain } from '../../api/kind.ts'
import { labels } from '../../api/names.ts'
import {
  bindingAuthorityKey,
  bindingProvider,
  bindingSecretName,
  bindingSecretType,
  bindingVersionAnnotation,
} from '../../api/services/binding-secret.ts'
import type { ServiceBinding } from '../../api/services/service-binding.ts'
import type { Applied } from '../../kube/client/client.ts'
import { ownerReference } from '../../kube/object/owner.ts'
import { asObject, parseJson, textAt } from '../../lib/json/json-value.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { SlotFacts } from '../slots/slots.ts'

/** Which slot the Secret holds, and when making it began; written together with the password. */
export const heldAnnotation = `${domain}/binding-slot`

export type Delivery = {
  readonly slot: NonNullable<SlotFacts['held']>
  readonly version: number
  readonly host: string
  readonly port: number
  /** Undefined: connections are not encrypted. */
  readonly tls: { readonly ca: string | undefined } | undefined
  readonly database: string
  readonly username: string
  readonly password: SecretString
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
    type: bindingSecretType.postgresql,
    data: Object.fromEntries(
      Object.entries(valuesOf(delivery)).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
    ),
  }
}

function valuesOf({ host, port, tls, database, username, password }: Delivery): Readonly<Record<string, string>> {
  const sslmode = tls === undefined ? 'disable' : 'verify-full'
  // An address of IPv6 stands in brackets in a URL.
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}/${database}`
  const secret = password.reveal()
  return {
    type: 'postgresql',
    provider: bindingProvider,
    host,
    port: String(port),
    database,
    username,
    password: secret,
    uri: `postgresql://${username}:${encodeURIComponent(secret)}@${place}?sslmode=${sslmode}`,
    'jdbc-url': `jdbc:postgresql://${place}?user=${username}&password=${encodeURIComponent(secret)}&sslmode=${sslmode}`,
    sslmode,
    ...(tls?.ca !== undefined && { [bindingAuthorityKey]: tls.ca }),
  }
}

/** Whether the Secret has exactly these values, so that nothing has to be written. */
export function isAsDesired(secret: Secret, desired: ReturnType<typeof desiredSecret>): boolean {
  return sameJson(secret.data ?? {}, desired.data)
}

/** What the Secret says that it holds, when it has a password for it. */
export function heldBy(secret: Secret | undefined): SlotFacts['held'] {
  const stored = asObject(parseJson(secret?.metadata.annotations?.[heldAnnotation] ?? ''))
  const [slot, issuedAt] = [textAt(stored, 'slot'), new Date(textAt(stored, 'issuedAt') ?? '')]
  if ((slot !== 'a' && slot !== 'b') || Number.isNaN(issuedAt.getTime())) return undefined
  return secret?.data?.['password'] === undefined ? undefined : { slot, issuedAt }
}

/** 0 for a Secret that has none. */
export function versionOf(secret: Secret | undefined): number {
  const version = Number(secret?.metadata.annotations?.[bindingVersionAnnotation] ?? 0)
  return Number.isSafeInteger(version) ? version : 0
}
