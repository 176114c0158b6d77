// What becomes of an AppSecret: which values its Secret gets, and in which version each of them changed. Pure. The versions
// stand in the Secret itself, written together with the values: a crash between the Secret and the status loses no change.
import { type AppSecret, appSecretReasons as reasons } from '../../api/apps/app-secret.ts'
import type { Secret } from '../../api/builtin/index.ts'
import { domain } from '../../api/kind.ts'
import { appSecretSecretName } from '../../api/names.ts'
import { controllerOf } from '../../kube/object/owner.ts'
import { asObject, integerAt, objectAt, parseJson } from '../../lib/json/json-value.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { Refusal } from '../../policy/check.ts'
import type { Facts } from './gather.ts'

/** On the Secret: the version, and the version in which each value last changed. */
export const versionsAnnotation = `${domain}/secret-versions`

/** `version` grows with every change; `keys` says in which version each value last changed. */
export type Versions = { readonly version: number; readonly keys: Readonly<Record<string, number>> }

export type Decision =
  | {
      readonly kind: 'keep'
      readonly values: Readonly<Record<string, SecretString>>
      readonly versions: Versions
      /** The values that are still sealed to a former key. */
      readonly formerlySealed: readonly string[]
    }
  /** The Secret stays as it is. */
  | ({ readonly kind: 'refused' } & Refusal)

/** Values, or the first reason why the Secret must not be written. */
export function decide(facts: Facts): Decision {
  const { appSecret, values, secret } = facts
  if (secret !== undefined && !isOwned(appSecret, secret)) {
    const message = `Secret ${appSecretSecretName(appSecret.metadata.name)} exists and was not made for this AppSecret: a platform admin has to delete it`
    return { kind: 'refused', reason: reasons.nameTaken, message }
  }
  const unreadable = values.filter(({ value }) => value === undefined).map(({ key }) => key)
  if (unreadable.length > 0) {
    const message = `cannot be decrypted: ${unreadable.slice(0, 10).join(', ')}${unreadable.length > 10 ? `, and ${unreadable.length - 10} more` : ''}. Set each of them again, or remove it; applications keep the values that they had`
    return { kind: 'refused', reason: reasons.unreadable, message }
  }
  const opened = Object.fromEntries(values.flatMap(({ key, value }) => (value === undefined ? [] : [[key, value]])))
  return {
    kind: 'keep',
    values: opened,
    versions: nextVersions(facts, opened),
    formerlySealed: values.filter(({ isCurrent }) => !isCurrent).map(({ key }) => key),
  }
}

function isOwned(appSecret: AppSecret, secret: Secret): boolean {
  return controllerOf(secret)?.uid === appSecret.metadata.uid
}

/** The versions that the Secret has; those of the status when it has none. */
export function presentVersions({ appSecret: { status }, secret }: Pick<Facts, 'appSecret' | 'secret'>): Versions {
  const stored = asObject(parseJson(secret?.metadata.annotations?.[versionsAnnotation] ?? ''))
  const keys = Object.entries(objectAt(stored, 'keys') ?? {}).filter((entry): entry is [string, number] =>
    Number.isSafeInteger(entry[1]),
  )
  return { version: Math.max(integerAt(stored, 'version') ?? 0, status?.version ?? 0), keys: Object.fromEntries(keys) }
}

/** A value is compared with what the Secret has: setting the same value again changes no version, and so restarts nothing. */
function nextVersions(facts: Facts, values: Readonly<Record<string, SecretString>>): Versions {
  const present = presentVersions(facts)
  const held = facts.secret?.data ?? {}
  const isSame = (key: string): boolean => {
    const [text, value] = [held[key], values[key]]
    return text !== undefined && value?.equals(Buffer.from(text, 'base64').toString('utf8')) === true && key in present.keys
  }
  const keys = Object.keys(values)
  const isUnchanged = keys.every(isSame) && Object.keys(held).every(key => key in values)
  if (isUnchanged && facts.secret !== undefined) return present
  const version = present.version + 1
  return { version, keys: Object.fromEntries(keys.map(key => [key, isSame(key) ? (present.keys[key] ?? version) : version])) }
}
