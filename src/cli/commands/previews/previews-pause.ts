// `sekisho previews pause` and `resume`: stop and start the preview of a pull request, by `spec.paused` of its AppPipeline.
import { maxRows } from '../../../api/apps/app-pipeline/status.ts'
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { AppError } from '../../../lib/errors.ts'
import { absent, type Cluster, fieldManager, found } from '../../kubernetes/cluster.ts'
import { appPipelines } from '../../kubernetes/kinds.ts'
import { type ClusterFormat, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'

type Options = { readonly output: ClusterFormat; readonly dryRun?: boolean }
type Change = 'pause' | 'resume'
type Wanted = { readonly change: Change; readonly pipeline: string; readonly numbers: readonly string[] }

const attempts = 5
/** Of the numbers that an error lists. */
const maxShown = 20

/** `spec.paused` after the change, in order. */
export function pausedAfter(paused: readonly number[], numbers: readonly number[], change: Change): readonly number[] {
  const rest = paused.filter(number => !numbers.includes(number))
  return (change === 'pause' ? [...rest, ...new Set(numbers)] : rest).toSorted((a, b) => a - b)
}

function patchOf({ metadata, spec }: AppPipeline, { change, numbers }: Wanted): object | undefined {
  const before = spec.paused ?? []
  const paused = pausedAfter(before, numbers.map(Number), change)
  if (paused.length === before.length && paused.every(number => before.includes(number))) return undefined
  return { metadata: { resourceVersion: metadata.resourceVersion }, spec: { paused: paused.length === 0 ? null : paused } }
}

/**
 * Throws `not_found` for numbers that no open pull request has: a misspelt one would be paused for ever, and the preview that
 * was meant would go on. What is paused can be resumed, whatever became of the pull request. Nothing is said against numbers of
 * a list that GitHub has not answered yet, or that is longer than a status.
 */
export function requireKnown(
  { metadata, spec, status }: Pick<AppPipeline, 'metadata' | 'spec' | 'status'>,
  { change, numbers }: Pick<Wanted, 'change' | 'numbers'>,
): void {
  const rows = status?.previews ?? []
  const isWhole = findCondition(status?.conditions, 'Listed')?.status === 'True' && rows.length < maxRows
  const open = rows.map(({ number }) => String(number))
  const known = change === 'resume' ? [...open, ...(spec.paused ?? []).map(String)] : open
  const unknown = numbers.filter(number => !known.includes(number))
  if (!isWhole || unknown.length === 0) return
  const which = `${unknown.length === 1 ? 'pull request' : 'pull requests'} ${unknown.join(', ')}`
  const shown = open.slice(0, maxShown).join(', ')
  const there = open.length === 0 ? 'none is open' : `open are ${shown}${open.length > maxShown ? ', …' : ''}`
  throw new AppError('not_found', `AppPipeline ${metadata.name} has no open ${which}, so nothing was changed; ${there}`)
}

/** Sent with the version that was read, and again when somebody else wrote in between: no change of another person is lost. */
async function send(cluster: Cluster, wanted: Wanted, dryRun: boolean): Promise<AppPipeline> {
  const { client, namespace } = cluster
  for (let attempt = 1; ; attempt += 1) {
    const before = await found(cluster, appPipelines, wanted.pipeline)
    requireKnown(before, wanted)
    const patch = patchOf(before, wanted)
    if (patch === undefined) return before
    try {
      const key = { name: wanted.pipeline, namespace }
      const after = await client.mergePatch(appPipelines, key, patch, { fieldManager, dryRun })
      return after ?? (await absent(cluster, appPipelines, wanted.pipeline))
    } catch (error) {
      if (!isKubeError(error, 409) || attempt === attempts) throw error
    }
  }
}

const done: Readonly<Record<Change, string>> = { pause: 'paused, nothing of it runs', resume: 'resumed' }

async function change({ cluster, terminal }: ClusterContext, options: Options, wanted: Wanted): Promise<void> {
  const { pipeline, numbers } = wanted
  const dryRun = options.dryRun === true
  const after = await send(cluster, wanted, dryRun)
  const value = { pipeline, paused: after.spec.paused ?? [], dryRun }
  const what = `${numbers.length === 1 ? 'preview' : 'previews'} ${numbers.join(', ')} of ${pipeline}`
  const text = (): string =>
    dryRun
      ? `${what} would be ${wanted.change}d (dry run)`
      : `${what}: ${done[wanted.change]}; sekisho previews list ${pipeline} shows it`
  await present(terminal, options.output, { value, text })
}

/** Adds the numbers to `spec.paused`. */
export function previewsPause(
  context: ClusterContext,
  options: Options,
  pipeline: string,
  numbers: readonly string[],
): Promise<void> {
  return change(context, options, { change: 'pause', pipeline, numbers })
}

/** Removes the numbers from `spec.paused`. */
export function previewsResume(
  context: ClusterContext,
  options: Options,
  pipeline: string,
  numbers: readonly string[],
): Promise<void> {
  return change(context, options, { change: 'resume', pipeline, numbers })
}
