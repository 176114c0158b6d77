// Replaces the values of an AppSecret by sealed ones, before anything is stored, validated by a schema or shown to anybody.
// What it refuses it refuses without repeating a value, nor a name that may be a value in the wrong place.
import { appSecret, appSecretBounds, appSecretKeyProblem } from '../../api/apps/app-secret.ts'
import type { SealValue } from '../../identity/sealed-values/seal.ts'
import { asObject, isJsonObject, type JsonObject, objectAt, parseJson, textAt } from '../../lib/json/json-value.ts'
import { SecretString } from '../../lib/secret-string.ts'
import type { AdmissionRequest } from '../review.ts'
import type { FindSealer } from './public-key.ts'

/** kubectl keeps the file that was applied here, values included. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
/** `/` in a JSON Pointer (RFC 6901 §3). */
const lastAppliedPath = `/metadata/annotations/${lastApplied.replaceAll('/', '~1')}`

/** An operation of a JSON Patch (RFC 6902). */
export type Operation =
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }

export type Sealing =
  | { readonly kind: 'patched'; readonly operations: readonly Operation[] }
  | { readonly kind: 'refused'; readonly message: string }

/**
 * The requests in which there may be something to seal, in CEL: only these are sent, so that no other write depends on the
 * webhook.
 */
export const holdsValues = {
  name: 'holds-values',
  expression: `object.?spec.orValue({}).exists(field, field != 'sealed') || object.?metadata.?annotations[?'${lastApplied}'].orValue('').contains('"values"')`,
}

/** The writes that are examined. */
export const sealedMatches = [
  { group: appSecret.group, resources: [appSecret.plural], operations: ['CREATE', 'UPDATE'] as const },
]

class Refused extends Error {}

/** The patch that seals all values and removes every copy of them, or why they cannot be sealed. */
export async function sealValues(request: AdmissionRequest, findSealer: FindSealer): Promise<Sealing> {
  const { object } = request
  const spec = objectAt(object, 'spec')
  const annotation = textAt(objectAt(object, 'metadata', 'annotations'), lastApplied)
  try {
    // Its name may be a value, too.
    if (Object.keys(spec ?? {}).some(field => field !== 'values' && field !== 'sealed'))
      throw new Refused('spec has a field that an AppSecret does not have: values belong below spec.values')
    const values = spec !== undefined && 'values' in spec ? acceptedValues(spec['values']) : undefined
    const sealed = values === undefined ? [] : await sealedOperations(request, values, findSealer)
    return { kind: 'patched', operations: [...sealed, ...(annotation === undefined ? [] : withoutCopies(annotation))] }
  } catch (error) {
    if (error instanceof Refused) return { kind: 'refused', message: error.message }
    throw error
  }
}

type Values = readonly (readonly [key: string, value: SecretString])[]

/** Throws Refused for what cannot be the values of environment variables. */
function acceptedValues(given: unknown): Values {
  if (!isJsonObject(given)) throw new Refused('spec.values must be an object of names and values, such as DATABASE_URL: "…"')
  const entries = Object.entries(given)
  if (entries.length === 0)
    throw new Refused('spec.values is empty: name the values to set; to remove one, set it to null in spec.sealed')
  if (entries.length > appSecretBounds.keys)
    throw new Refused(`spec.values has more than ${appSecretBounds.keys} values: use more than one AppSecret`)
  return entries.map(([key, value], index) => {
    const problem = appSecretKeyProblem(key)
    if (problem !== undefined) throw new Refused(`name ${index + 1} in spec.values ${problem}`)
    if (value === null) throw new Refused(`spec.values.${key} is null: to remove it, set spec.sealed.${key} to null`)
    if (typeof value !== 'string') throw new Refused(`spec.values.${key} must be a text: put it in quotes`)
    if (!value.isWellFormed()) throw new Refused(`spec.values.${key} must be Unicode text: encode other bytes, such as in base64`)
    if (Buffer.byteLength(value) > appSecretBounds.valueBytes)
      throw new Refused(`spec.values.${key} is larger than ${appSecretBounds.valueBytes / 1024} KiB`)
    return [key, new SecretString(value)] as const
  })
}

async function sealedOperations(
  { namespace, object }: AdmissionRequest,
  values: Values,
  findSealer: FindSealer,
): Promise<readonly Operation[]> {
  const name = textAt(objectAt(object, 'metadata'), 'name')
  if (namespace === undefined || name === undefined || name === '')
    throw new Refused('an AppSecret with values needs metadata.name: they are encrypted for it, so generateName cannot be used')
  const seal = await findSealer()
  if (seal === undefined)
    throw new Refused(
      'the platform has not got its key for AppSecrets yet, so nothing was stored: try again in a minute, and ask a platform admin if it stays (docs/guide/secrets.md)',
    )
  const sealed = await sealAll(seal, values, { namespace, name })
  const present = objectAt(object, 'spec', 'sealed')
  const added: readonly Operation[] =
    present === undefined
      ? [{ op: 'add', path: '/spec/sealed', value: Object.fromEntries(sealed) }]
      : sealed.map(([key, value]) => ({ op: 'add', path: `/spec/sealed/${key}`, value }))
  return [...added, { op: 'remove', path: '/spec/values' }]
}

function sealAll(seal: SealValue, values: Values, place: { readonly namespace: string; readonly name: string }) {
  return Promise.all(values.map(async ([key, value]) => [key, await seal(value, { ...place, key })] as const))
}

/**
 * The file as it was applied, without its values: kubectl then sends them again with the next apply. A text that is not a file
 * is dropped.
 */
function withoutCopies(annotation: string): readonly Operation[] {
  const applied = asObject(parseJson(annotation))
  if (applied === undefined) return [{ op: 'remove', path: lastAppliedPath }]
  const spec = objectAt(applied, 'spec')
  if (spec === undefined || !('values' in spec)) return []
  const { values: _, ...rest } = spec as JsonObject & { readonly values: unknown }
  return [{ op: 'add', path: lastAppliedPath, value: `${JSON.stringify({ ...applied, spec: rest })}\n` }]
}
