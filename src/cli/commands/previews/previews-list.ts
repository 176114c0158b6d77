// `sekisho previews list`: the pull requests of the AppPipelines of a namespace, with what became of each preview.
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import { compareText } from '../../../lib/text/compare-text.ts'
import { found } from '../../kubernetes/cluster.ts'
import { appPipelines } from '../../kubernetes/kinds.ts'
import { json, type OutputFormat, table } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'

type Options = { readonly output: OutputFormat }

type Row = NonNullable<NonNullable<AppPipeline['status']>['previews']>[number]
/** A row of the status with the name of its AppPipeline. */
export type ListedPreview = Row & { readonly pipeline: string }

/** By AppPipeline and number. */
export function listedPreviews(pipelines: readonly AppPipeline[]): readonly ListedPreview[] {
  return pipelines
    .flatMap(({ metadata, status }) => (status?.previews ?? []).map(row => ({ pipeline: metadata.name, ...row })))
    .toSorted((a, b) => compareText(a.pipeline, b.pipeline) || a.number - b.number)
}

/** The whole commit id where somebody has to name it. */
function cells(
  { pipeline, number, state, headCommit, url, message, reason, since }: ListedPreview,
  wide: boolean,
): readonly string[] {
  const commit = wide || state === 'WaitingForApproval' ? headCommit : headCommit.slice(0, 12)
  const base = [pipeline, String(number), state, commit, url ?? reason]
  return wide ? [...base, since, message] : base
}

/** Prints them; `json` as they are in the status. */
export async function previewsList({ cluster, terminal }: ClusterContext, { output }: Options, name?: string): Promise<void> {
  const { client, namespace } = cluster
  const pipelines =
    name === undefined ? await client.list(appPipelines, { namespace }) : [await found(cluster, appPipelines, name)]
  const previews = listedPreviews(pipelines)
  if (output === 'json') return terminal.result(json({ previews }))
  const wide = output === 'wide'
  const headers = ['PIPELINE', 'PULL', 'STATE', 'COMMIT', 'URL OR REASON', ...(wide ? ['SINCE', 'MESSAGE'] : [])]
  terminal.result(
    table(
      headers,
      previews.map(preview => cells(preview, wide)),
    ),
  )
}
