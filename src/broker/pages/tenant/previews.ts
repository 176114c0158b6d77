// Previews on a tenant's page, and what waits for somebody's approval. Pure. The form names the commit that the person sees: a
// push in between makes it a refusal, never the approval of something else.

import { type PreviewState, previewStates } from '../../../api/apps/app-pipeline/status.ts'
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import { followedRepository } from '../../../api/capabilities/repository-follower.ts'
import { type Html, html } from '../../../web/html.ts'
import type { PreviewRow } from '../../previews/visible-previews.ts'
import type { Person } from '../../sessions.ts'
import { bounded } from '../../tenants/bounded.ts'
import type { TenantView } from '../../tenants/visible-tenants.ts'
import { approveForm, changesLink } from '../previews.ts'
import { repositoryUrl, shortText, table, time, webLink } from '../table.ts'
import { type Place, section } from './sections.ts'

const maxOfPipeline = 30
const maxWaiting = 20

/** What a person may have to do something about comes first, what has no preview last; the newest pull request first. */
const order: readonly PreviewState[] = [
  'WaitingForApproval',
  'Failed',
  'Conflict',
  'Building',
  'Waiting',
  'Removing',
  'Running',
  'Paused',
]
const rank = (state: PreviewState): number => (order.includes(state) ? order.indexOf(state) : previewStates.length)

/** The rows of an AppPipeline. */
export function previewsOf({ status }: AppPipeline): readonly PreviewRow[] {
  return status?.previews ?? []
}

function pullRequest(web: string, pipeline: AppPipeline, { number }: PreviewRow): Html {
  const known = followedRepository(pipeline)
  const text = `#${number}`
  return known === undefined ? html`${text}` : webLink(repositoryUrl(web, known.name, 'pull', number), text)
}

const withLog: readonly PreviewState[] = ['Building', 'Running', 'Failed']

function pipelineTable({ namespace, web }: Place, pipeline: AppPipeline, { access }: TenantView): Html {
  const rows = previewsOf(pipeline).toSorted((a, b) => rank(a.state) - rank(b.state) || b.number - a.number)
  const { items, more } = bounded(rows, maxOfPipeline)
  const log = ({ application, state }: PreviewRow) =>
    access.builds && application !== undefined && withLog.includes(state)
      ? html` <a href="/tenants/${namespace}/builds/${encodeURIComponent(application)}" aria-label="Build log of ${application}">log</a>`
      : undefined
  const { open = rows.length, running = 0, waiting = 0 } = pipeline.status?.counts ?? {}
  const { name } = pipeline.metadata
  const list = table({
    caption: `${open} open, ${running} running, ${waiting} waiting.`,
    columns: ['Pull request', 'State', 'Commit', 'URL or reason', 'Since'],
    rows: items.map(item => [
      pullRequest(web, pipeline, item),
      html`<span class="word">${item.state}</span>${log(item)}`,
      changesLink(web, pipeline, item, item.headCommit.slice(0, 12)),
      item.url === undefined ? html`${item.reason} <span class="fine">${shortText(item.message)}</span>` : webLink(item.url),
      time(item.since),
    ]),
  })
  const pause = html`<p class="fine">Pause or resume one: <code>sekisho previews pause ${name} &lt;number&gt; --namespace ${namespace}</code></p>`
  return html`<h3>${name}: ${pipeline.spec.repository}</h3>
${rows.length === 0 ? html`<p>There is no open pull request.</p>` : list}
${more ? html`<p class="fine"><a href="/tenants/${namespace}/previews">All ${rows.length} pull requests</a></p>` : undefined}
${access.changePipelines && rows.length > 0 ? pause : undefined}`
}

/** The pull requests of every AppPipeline. */
export function previewsSection(place: Place, view: TenantView): Html | undefined {
  if (view.pipelines === undefined) return undefined
  const { items, more } = view.pipelines
  const body =
    items.length === 0 ? html`<p>There is no AppPipeline yet.</p>` : items.map(item => pipelineTable(place, item, view))
  const others = more ? html`<p class="fine"><a href="/tenants/${place.namespace}/previews">More AppPipelines</a></p>` : undefined
  return section('previews', 'Previews of pull requests', html`${body}${others}`)
}

/** The commits of forks that wait, with a form for each. Who may approve is decided by GitHub when the form is sent. */
export function waitingSection(place: Place, person: Person, { pipelines }: TenantView): Html | undefined {
  const waiting = (pipelines?.items ?? []).flatMap(pipeline =>
    previewsOf(pipeline)
      .filter(({ state }) => state === 'WaitingForApproval')
      .map(preview => ({ pipeline, preview })),
  )
  if (waiting.length === 0) return undefined
  const { items, more } = bounded(waiting, maxWaiting)
  const list = table({
    caption:
      'Commits of forks. They are fetched, built and run after somebody who may write to the repository on GitHub approved exactly them.',
    columns: ['Pull request', 'AppPipeline', 'Commit', 'Approval'],
    rows: items.map(({ pipeline, preview }) => [
      pullRequest(place.web, pipeline, preview),
      pipeline.metadata.name,
      changesLink(place.web, pipeline, preview, preview.headCommit),
      approveForm({ person, namespace: place.namespace }, pipeline, preview),
    ]),
  })
  const others = html`<p class="fine"><a href="/tenants/${place.namespace}/previews">All ${waiting.length} that wait</a></p>`
  return section('waiting', 'Waits for approval', html`${list}${more ? others : undefined}`)
}
