// The ConfigMap that keeps signed statements about the audit log outside its database, as fields: `entry-…` for checkpoints,
// `lost-…` for those whose entries are missing, `acknowledged-…` for what platform admins acknowledged, `cut-…` for where the log
// begins, and the public keys by which all of them verify. Pure.
import { auditCheckpoints } from '../../api/audit/audit-access.ts'
import type { ConfigMap } from '../../api/builtin/index.ts'
import { platformNamespace } from '../../api/names.ts'
import { type CheckpointKeys, signingKeyId } from '../../identity/oidc/audit-checkpoint.ts'
import type { ChainHead } from '../../lib/hash-chain/hash-chain.ts'
import { parseJson } from '../../lib/json/json-value.ts'
import { keptSequences } from './kept-checkpoints.ts'

export const checkpointsName = auditCheckpoints
/** Set while the log contradicts a checkpoint, or attested entries are missing and nobody acknowledged it; the value says how. */
export const problemAnnotation = 'sekisho.dev/audit-problem'
export const checkpointsKey = { namespace: platformNamespace, name: checkpointsName }

/** More losses than this are not accidents: then the export stops instead of going on. */
export const maxLost = 100

const keysField = 'keys.json'
const digits = 16
const padded = (sequence: number): string => String(sequence).padStart(digits, '0')
const fieldOf = (group: 'entry' | 'lost', sequence: number): string => `${group}-${padded(sequence)}`

type Fields = Readonly<Record<string, string | null>>

/** A statement as it is kept; `sequence` is what its field says. */
export type KeptStatement = { readonly sequence: number; readonly statement: string }

/** The statements of a group, in the order of their sequences. */
export function statementsIn(kept: ConfigMap | undefined, group: 'entry' | 'lost'): readonly KeptStatement[] {
  const pattern = new RegExp(`^${group}-([0-9]{${digits}})$`)
  return Object.entries(kept?.data ?? {})
    .flatMap(([field, statement]) => {
      const sequence = pattern.exec(field)?.[1]
      return sequence === undefined ? [] : [{ sequence: Number(sequence), statement }]
    })
    .sort((a, b) => a.sequence - b.sequence)
}

/** The signed acknowledgements. */
export function acknowledgementsIn(kept: ConfigMap | undefined): readonly string[] {
  return Object.entries(kept?.data ?? {}).flatMap(([field, statement]) => (field.startsWith('acknowledged-') ? [statement] : []))
}

/** A new checkpoint, and what is dropped for it. */
export function checkpointFields(kept: ConfigMap | undefined, head: ChainHead, statement: string): Fields {
  const present = statementsIn(kept, 'entry').map(({ sequence }) => sequence)
  const wanted = keptSequences([...present, head.sequence])
  const dropped = present.filter(sequence => !wanted.has(sequence)).map(sequence => [fieldOf('entry', sequence), null])
  return { ...Object.fromEntries(dropped), [fieldOf('entry', head.sequence)]: statement }
}

/** Statements whose entries are missing are proof: they are kept under another name, and never dropped. */
export function lostFields(lost: readonly KeptStatement[]): Fields {
  return Object.fromEntries(
    lost.flatMap(({ sequence, statement }) => [
      [fieldOf('entry', sequence), null],
      [fieldOf('lost', sequence), statement],
    ]),
  )
}

/** The cut by which the log begins where it does: kept with its key, because the key is published for half a year only. */
export function cutFields(kept: ConfigMap | undefined, cut: KeptStatement): Fields {
  const former = Object.keys(kept?.data ?? {}).filter(field => field.startsWith('cut-'))
  return { ...Object.fromEntries(former.map(field => [field, null])), [`cut-${padded(cut.sequence)}`]: cut.statement }
}

export function acknowledgedFields(remaining: ChainHead, lost: ChainHead, statement: string): Fields {
  return { [`acknowledged-${padded(remaining.sequence)}-${padded(lost.sequence)}`]: statement }
}

/**
 * The published keys, and those that the kept statements need: a key is published for half a year, a checkpoint is kept for
 * years.
 */
export function keysFields(kept: ConfigMap | undefined, fields: Fields, published: CheckpointKeys): Fields {
  const after: Fields = { ...kept?.data, ...fields }
  const needed = new Set(Object.values(after).flatMap(statement => (statement === null ? [] : (signingKeyId(statement) ?? []))))
  const former = keptKeys(kept).keys.filter(({ kid }) => kid !== undefined && needed.has(kid))
  const known = new Set(published.keys.map(({ kid }) => kid))
  return { [keysField]: JSON.stringify({ keys: [...published.keys, ...former.filter(({ kid }) => !known.has(kid))] }) }
}

/** The keys beside the statements. Whoever may write the ConfigMap may write them too. */
export function keptKeys(kept: ConfigMap | undefined): CheckpointKeys {
  const parsed = parseJson(kept?.data?.[keysField] ?? '')
  return isKeySet(parsed) ? parsed : { keys: [] }
}

function isKeySet(value: unknown): value is CheckpointKeys {
  return typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys)
}
