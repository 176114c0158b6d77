// `sekisho previews pause` and `resume`: stop and start the preview of a pull request, by `spec.paused` of its AppPipeline.
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { absent, type Cluster, fieldManager, found } from '../../kubernetes/cluster.ts'
import { appPipelines } from '../../kubernetes/kinds.ts'
import { type ClusterFormat, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'

type Options = { readonly output: ClusterFormat; readonly dryRun?: boolean }
type Change = 'pause' | 'resume'
type Wanted = { readonly change: Change; readonly pipeline: string; readonly numbers: readonly string[] }

const attempts = 5

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

/** Sent with the version that was read, and again when somebody else wrote in between: no change of another person is lost. */
async function send(cluster: Cluster, wanted: Wanted, dryRun: boolean): Promise<AppPipeline> {
  const { client, namespace } = cluster
  for (let attempt = 1; ; attempt += 1) {
    const before = await found(cluster, appPipelines, wanted.pipeline)
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

/** Those that no open pull request has, as far as the platform knows. Pure. */
export function unknownNumbers({ status }: Pick<AppPipeline, 'status'>, numbers: readonly string[]): readonly string[] {
  const open = (status?.previews ?? []).map(({ number }) => String(number))
  return numbers.filter(number => !open.includes(number))
}

const done: Readonly<Record<Change, string>> = { pause: 'paused, nothing of it runs', resume: 'resumed' }

async function change({ cluster, terminal }: ClusterContext, options: Options, wanted: Wanted): Promise<void> {
  const { pipeline, numbers } = wanted
  const dryRun = options.dryRun === true
  const after = await send(cluster, wanted, dryRun)
  const unknown = unknownNumbers(after, numbers)
  const value = { pipeline, paused: after.spec.paused ?? [], dryRun }
  const what = `${numbers.length === 1 ? 'preview' : 'previews'} ${numbers.join(', ')} of ${pipeline}`
  const text = (): string =>
    dryRun
      ? `${what} would be ${wanted.change}d (dry run)`
      : `${what}: ${done[wanted.change]}; sekisho previews list ${pipeline} shows it`
  if (unknown.length > 0 && wanted.change === 'pause')
    terminal.say(
      `no open pull request is known with ${unknown.length === 1 ? 'the number' : 'the numbers'} ${unknown.join(', ')}: a preview of it will be paused once it is`,
    )
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
