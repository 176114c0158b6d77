// Keeps the signed head of the audit log out of the reach of whoever controls the database: in a ConfigMap of the platform namespace. Before each
// new checkpoint the last one is compared with the log; a log that contradicts it is reported, and the proof is never overwritten.
// See docs/adr/0014-checkpoints-outside-the-database.md.
import { type ConfigMap, configMaps } from '../../api/builtin/index.ts'
import { platformNamespace } from '../../api/names.ts'
import { signCheckpoint, verifyCheckpoint } from '../../identity/oidc/audit-checkpoint.ts'
import type { IssuerKeys } from '../../identity/oidc/issuer-keys.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { isAppError } from '../../lib/errors.ts'
import { type ChainHead, entryHash } from '../../lib/hash-chain.ts'
import type { Log } from '../../lib/log.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import type { Store } from '../../store/store.ts'
import { keptSequences } from './kept-checkpoints.ts'

export type CheckpointExportDeps = {
  readonly kube: Pick<KubeClient, 'get' | 'create' | 'mergePatch'>
  readonly audit: Pick<Store['audit'], 'head' | 'list'>
  readonly keys: Pick<IssuerKeys, 'sign' | 'publicKeys'>
  /** The issuer identifier that statements carry. */
  readonly issuer: string
  readonly everyMilliseconds: number
  readonly clock: Clock
  readonly log: Log
}

export type CheckpointExport = Pick<Periodic, 'start' | 'stop'> & {
  /** `written`, `unchanged` (no new entry), `raced` (another replica wrote), or `broken`: the log contradicts its last checkpoint. */
  readonly once: () => Promise<'written' | 'unchanged' | 'raced' | 'broken'>
}

export const checkpointsName = 'sekisho-audit-checkpoints'
/** Set when the log contradicts its last checkpoint; the value says how. It stays until a person has examined the log and removes it. */
export const problemAnnotation = 'sekisho.dev/audit-problem'

const key = { namespace: platformNamespace, name: checkpointsName }
const manager = { fieldManager: 'sekisho-broker-audit' }
const keysField = 'keys.json'
const fieldOf = (sequence: number): string => `entry-${String(sequence).padStart(16, '0')}`
const sequenceOf = (field: string): number | undefined => {
  const digits = /^entry-([0-9]{16})$/.exec(field)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** Exports once now and then at the interval, after `start`. */
export function createCheckpointExport(deps: CheckpointExportDeps): CheckpointExport {
  const { kube, audit, everyMilliseconds, clock, log } = deps
  const once: CheckpointExport['once'] = async () => {
    const kept = await kube.get(configMaps, key)
    const head = await audit.head()
    const last = await lastOf(deps, kept)
    const problem = last.problem ?? (last.head && (await contradiction(audit, last.head, head)))
    if (problem !== undefined) {
      log.error({ ...(last.head ?? {}), problem }, 'audit log was altered: it contradicts a checkpoint kept outside the database')
      await kube.mergePatch(configMaps, key, { metadata: { annotations: { [problemAnnotation]: problem } } }, manager)
      return 'broken'
    }
    if (head.sequence === (last.head?.sequence ?? 0)) return 'unchanged'
    return write(deps, kept, head)
  }

  const { start, stop } = periodic({ name: 'audit checkpoint export', everyMilliseconds, work: once, clock, log })
  return { once, start, stop }
}

async function lastOf(
  { keys, issuer }: CheckpointExportDeps,
  kept: ConfigMap | undefined,
): Promise<{ readonly head?: ChainHead; readonly problem?: string }> {
  const fields = Object.keys(kept?.data ?? {}).filter(field => sequenceOf(field) !== undefined)
  const newest = fields.sort().at(-1)
  if (newest === undefined) return {}
  try {
    return { head: await verifyCheckpoint(kept?.data?.[newest] ?? '', keys.publicKeys, issuer) }
  } catch (error) {
    if (!isAppError(error, 'integrity_violation')) throw error
    return { problem: `the checkpoint ${newest} is not valid: ${error.message}` }
  }
}

/** Compares the one entry that the checkpoint names; `sekisho audit verify` compares all of them. */
async function contradiction(
  audit: CheckpointExportDeps['audit'],
  last: ChainHead,
  head: ChainHead,
): Promise<string | undefined> {
  if (head.sequence < last.sequence) return `entry ${head.sequence + 1} is missing: the log had entries up to ${last.sequence}`
  const [entry] = await audit.list({ after: last.sequence - 1, limit: 1 })
  if (entry?.sequence === last.sequence && entry.hash === last.hash && entryHash(entry) === last.hash) return undefined
  return `entry ${last.sequence} is not the one that was signed`
}

async function write(deps: CheckpointExportDeps, kept: ConfigMap | undefined, head: ChainHead): Promise<'written' | 'raced'> {
  const { kube, keys, log } = deps
  const statement = await signCheckpoint(keys, deps.issuer, head)
  const present = Object.keys(kept?.data ?? {}).flatMap(field => sequenceOf(field) ?? [])
  const wanted = keptSequences([...present, head.sequence])
  const dropped = present.filter(sequence => !wanted.has(sequence)).map(sequence => [fieldOf(sequence), null])
  const data = { [fieldOf(head.sequence)]: statement, [keysField]: JSON.stringify(keys.publicKeys) }
  try {
    if (kept === undefined) {
      await kube.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data }, manager)
    } else {
      const { resourceVersion } = kept.metadata
      const patch = { metadata: { resourceVersion }, data: { ...Object.fromEntries(dropped), ...data } }
      await kube.mergePatch(configMaps, key, patch, manager)
    }
  } catch (error) {
    if (isKubeError(error, 409)) return 'raced'
    throw error
  }
  // Log collectors keep the head in one more place.
  log.info({ sequence: head.sequence, hash: head.hash }, 'audit checkpoint written')
  return 'written'
}
