// Keeps the signed head of the audit log out of the reach of whoever controls the database: in a ConfigMap of the platform
// namespace. Before each new checkpoint the last one is compared with the log; a log that contradicts it is reported, and the
// proof is never overwritten. Missing entries are recorded, and the export goes on (lost-entries.ts). See
// docs/adr/0014-checkpoints-outside-the-database.md and ADR 0031.
import { type ConfigMap, configMaps } from '../../api/builtin/index.ts'
import { noVersion } from '../../api/resource.ts'
import { type CheckpointKeys, signCheckpoint, signingKeyId } from '../../identity/oidc/audit-checkpoint.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import type { ChainHead, ChainResult } from '../../lib/hash-chain/hash-chain.ts'
import type { Log } from '../../lib/log.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import { checkpointFields, checkpointsKey, cutFields, keysFields, problemAnnotation, statementsIn } from './checkpoint-map.ts'
import { contains } from './examine-log.ts'
import { examineFrom, type LogStart, provenStart, recordPruned } from './log-start.ts'
import type { LossDeps, ProvenHead } from './loss-deps.ts'
import { provenHeads, recordLosses } from './lost-entries.ts'
import type { LogState } from './metrics.ts'
import type { KeepCheckpoint } from './places/checkpoint-folder.ts'

export type CheckpointExportDeps = LossDeps & {
  readonly everyMilliseconds: number
  /** False on a replica that does not lead: one at a time compares and signs. */
  readonly isLeader: () => boolean
  /** One more place for each checkpoint; the ConfigMap is written whether it works or not. */
  readonly keep?: KeepCheckpoint | undefined
  /** Told what each comparison found. */
  readonly observe?: (state: LogState) => void
}

export type CheckpointExport = Pick<Periodic, 'start' | 'stop'> & {
  /**
   * `written`, `unchanged` (no new entry), `raced` (another replica wrote), `truncated` (attested entries are missing:
   * recorded, the next round goes on) or `broken`: the log contradicts its last checkpoint.
   */
  readonly once: () => Promise<'written' | 'unchanged' | 'raced' | 'truncated' | 'broken'>
}

type Truncated = Extract<ChainResult, { readonly kind: 'truncated' }>
type Altered = Extract<ChainResult, { readonly kind: 'altered' }>

const manager = { fieldManager: 'sekisho-broker-audit' }

/** Exports once now and then at the interval, after `start`. */
export function createCheckpointExport(deps: CheckpointExportDeps): CheckpointExport {
  const { kube, audit, keys, everyMilliseconds, isLeader, clock, log } = deps
  /** Where the log begins, when that was looked at last. */
  let begins: LogStart | undefined
  /** The state of the ConfigMap in which the log was found broken: reading the log again would find the same. */
  let brokenAt: { readonly version: string | undefined; readonly result: Altered } | undefined

  const report = async (problem: string): Promise<string | undefined> => {
    log.error({ problem }, 'audit log was altered: it contradicts a checkpoint kept outside the database')
    const marked = await kube.mergePatch(
      configMaps,
      checkpointsKey,
      { metadata: { annotations: { [problemAnnotation]: problem } } },
      manager,
    )
    return marked?.metadata.resourceVersion
  }

  /**
   * Reads the log once for each state of the ConfigMap in which it was found broken, and from then on only whether it was
   * restored.
   */
  const examine = async (kept: ConfigMap, heads: readonly ProvenHead[]): Promise<ChainResult> => {
    const [known, newest] = [brokenAt, heads.at(-1)]
    const examined = known !== undefined && known.version === kept.metadata.resourceVersion
    const isThere = newest !== undefined && (await contains(audit, newest))
    if (examined && newest !== undefined && !isThere) return known.result
    const begun = await provenStart(deps, kept).catch(startProblem)
    if ('problem' in begun) return { ok: false, kind: 'altered', sequence: 1, problem: begun.problem }
    if (begins?.start.sequence !== begun.start.sequence) await recordPruned(deps, begun)
    begins = begun
    // Nothing is read beyond two entries while the log contains the newest head: this is done every minute.
    if (isThere) return { ok: true, entries: newest.sequence, head: newest }
    return examineFrom(audit, heads, begun.start)
  }
  const truncated = async (kept: ConfigMap, heads: readonly ProvenHead[], found: Truncated): Promise<'truncated'> => {
    log.error({ problem: found.problem }, 'attested entries of the audit log are missing')
    await recordLosses(deps, kept, { losses: found.losses, heads, actor: 'sekisho:broker' })
    return 'truncated'
  }
  const altered = async (found: Altered): Promise<'broken'> => {
    const version = await report(`entry ${found.sequence} ${found.problem}`)
    brokenAt = { version, result: found }
    return 'broken'
  }

  const once: CheckpointExport['once'] = async () => {
    const kept = await kube.get(configMaps, checkpointsKey)
    const heads = await keptHeads(deps, kept)
    if (heads === undefined) {
      await report('the newest checkpoint is not valid: its signature is not of this platform')
      deps.observe?.({ problem: true, at: clock.now() })
      return 'broken'
    }
    const head = await audit.head()
    const result = await (kept === undefined ? begin(head) : goOn(kept, heads, head))
    const at = clock.now()
    deps.observe?.({
      head: head.sequence,
      checkpointAt: result === 'written' ? at : heads.at(-1)?.attestedAt,
      problem: result === 'broken' || result === 'truncated' || kept?.metadata.annotations?.[problemAnnotation] !== undefined,
      at,
    })
    return result
  }
  const begin = async (head: ChainHead) =>
    head.sequence === 0 ? 'unchanged' : write(deps, { kept: undefined, cut: undefined }, head)
  const goOn = async (kept: ConfigMap, heads: readonly ProvenHead[], head: ChainHead): ReturnType<CheckpointExport['once']> => {
    const result = await examine(kept, heads)
    if (!result.ok) return result.kind === 'altered' ? altered(result) : truncated(kept, heads, result)
    remind(log, kept)
    return isAttested(head, heads.at(-1), keys.publicKeys) ? 'unchanged' : write(deps, { kept, cut: begins?.cut }, head)
  }

  const { start, stop } = periodic({
    name: 'audit checkpoint export',
    everyMilliseconds,
    work: once,
    clock,
    log,
    enabled: isLeader,
  })
  return { once, start, stop }
}

async function keepCopy({ keep, keys, clock, log }: CheckpointExportDeps, statement: string, head: ChainHead): Promise<void> {
  try {
    await keep?.(statement, keys.publicKeys, clock.now())
  } catch (error) {
    const fault = { error: messageOf(error), sequence: head.sequence }
    log.error(fault, 'failed to keep an audit checkpoint in SEKISHO_AUDIT_CHECKPOINT_FOLDER')
  }
}

/** The text of a start that no signed cut allows; other errors are none of the log. */
function startProblem(error: unknown): { readonly problem: string } {
  if (isAppError(error, 'integrity_violation')) return { problem: error.message.replace(/^entry 1 /, '') }
  throw error
}

/** Every minute, until somebody acknowledged it. */
function remind(log: Log, kept: ConfigMap): void {
  const problem = kept.metadata.annotations?.[problemAnnotation]
  if (problem === undefined) return
  log.error({ problem }, 'a problem of the audit log is not acknowledged: examine it, then run sekisho audit acknowledge')
}

/**
 * In the order of their sequences; undefined when the newest is not signed by a published key, which whoever writes the
 * ConfigMap does not have.
 */
async function keptHeads(deps: CheckpointExportDeps, kept: ConfigMap | undefined): Promise<readonly ProvenHead[] | undefined> {
  const statements = statementsIn(kept, 'entry')
  const newest = statements.at(-1)
  if (newest === undefined) return []
  const [last] = await provenHeads(deps, undefined, [newest])
  if (last === undefined || last.sequence !== newest.sequence) return undefined
  return [...(await provenHeads(deps, kept, statements.slice(0, -1))), last]
}

/** A head that has not changed is signed again when its key was replaced: a former key is published for some months only. */
function isAttested(head: ChainHead, last: ProvenHead | undefined, published: CheckpointKeys): boolean {
  if (last === undefined) return head.sequence === 0
  return head.sequence === last.sequence && signingKeyId(last.statement) === published.keys[0]?.kid
}

async function write(
  deps: CheckpointExportDeps,
  { kept, cut }: { readonly kept: ConfigMap | undefined; readonly cut: LogStart['cut'] },
  head: ChainHead,
): Promise<'written' | 'raced'> {
  const { kube, keys, log } = deps
  const statement = await signCheckpoint(keys, deps.issuer, head)
  const checkpoint = checkpointFields(kept, head, statement)
  const fields = { ...checkpoint, ...(cut === undefined ? {} : cutFields(kept, cut)) }
  const data = { ...fields, ...keysFields(kept, fields, keys.publicKeys) }
  try {
    if (kept === undefined) {
      const present = Object.fromEntries(Object.entries(data).filter((field): field is [string, string] => field[1] !== null))
      // An apply, because a right to create can be limited to a name only where the request has one.
      const metadata = { ...checkpointsKey, resourceVersion: noVersion }
      await kube.apply(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: present }, manager)
    } else {
      const { resourceVersion } = kept.metadata
      await kube.mergePatch(configMaps, checkpointsKey, { metadata: { resourceVersion }, data }, manager)
    }
  } catch (error) {
    if (isKubeError(error, 409)) return 'raced'
    throw error
  }
  await keepCopy(deps, statement, head)
  // Log collectors keep the head in one more place.
  log.info({ sequence: head.sequence, hash: head.hash }, 'audit checkpoint written')
  return 'written'
}
