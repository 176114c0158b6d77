// Previews on a tenant's page, and what waits for somebody's approval. Pure. The form names the commit that the person sees: a
// push in between makes it a refusal, never the approval of something else.
import type { PreviewState } from '../../../api/apps/app-pipeline/status.ts'
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import { followedRepository } from '../../../api/capabilities/repository-follower.ts'
import type { ReasonClass } from '../../../api/reasons/reason.ts'
import { type Html, html } from '../../../web/html.ts'
import type { PreviewRow } from '../../previews/visible-previews.ts'
import type { Person } from '../../sessions.ts'
import { bounded } from '../../tenants/bounded.ts'
import type { TenantView } from '../../tenants/visible-tenants.ts'
import { approveForm, changesLink } from '../previews.ts'
import { chosen, isEverything, stateChoices } from '../state/choice.ts'
import { classOfPreview, signed } from '../state/sign.ts'
import { hostLink, repositoryUrl, shortText, table, time, webLink } from '../table.ts'
import { type Place, section } from './sections.ts'

const maxOfPipeline = 30
const maxWaiting = 20

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

/** What somebody may have to do something about comes first; of equals the newest pull request. */
function chosenRows({ choice }: Place, pipeline: AppPipeline): readonly PreviewRow[] {
  const name = pipeline.metadata.name
  const rows = previewsOf(pipeline)
    .toSorted((a, b) => b.number - a.number)
    .map(row => {
      const { number, state, reason, application, url } = row
      return { row, of: classOfPreview[state], texts: [name, `#${number}`, state, reason, application, url] }
    })
  return chosen(choice, rows).map(({ row }) => row)
}

const attention: readonly ReasonClass[] = stateChoices.attention.classes

/** Closed where nothing needs anybody, so that many previews do not hide the rest of the page. */
function pipelineTable(place: Place, pipeline: AppPipeline, { access }: TenantView): Html {
  const { namespace, web, choice } = place
  const all = previewsOf(pipeline)
  const rows = chosenRows(place, pipeline)
  const { items, more } = bounded(rows, maxOfPipeline)
  const log = ({ application, state }: PreviewRow) =>
    access.builds && application !== undefined && withLog.includes(state)
      ? html` <a href="/tenants/${namespace}/builds/${encodeURIComponent(application)}" aria-label="Build log of ${application}">log</a>`
      : undefined
  const { open = all.length, running = 0, waiting = 0 } = pipeline.status?.counts ?? {}
  const { name } = pipeline.metadata
  const counted = `${open} open, ${running} running, ${waiting} waiting`
  const list = table({
    caption: `${counted}.`,
    columns: ['Pull request', 'State', 'Commit', 'URL or reason', 'Since'],
    rows: items.map(item => [
      pullRequest(web, pipeline, item),
      html`${signed(classOfPreview[item.state], item.state)}${log(item)}`,
      changesLink(web, pipeline, item, item.headCommit.slice(0, 12)),
      item.url === undefined ? html`${item.reason} <span class="fine">${shortText(item.message)}</span>` : hostLink(item.url),
      time(item.since),
    ]),
  })
  const pause = html`<p class="fine">Pause or resume one: <code>sekisho previews pause ${name} &lt;number&gt; --namespace ${namespace}</code></p>`
  const heading = html`<h3>${name}: ${pipeline.spec.repository}</h3>`
  if (all.length === 0) return html`${heading}<p>There is no open pull request.</p>`
  const needed = all.map(({ state }) => classOfPreview[state]).filter(of => attention.includes(of))
  const isOpen = needed.length > 0 || !isEverything(choice)
  const sign =
    needed.length > 0 && html` ${signed(needed.includes('failed') ? 'failed' : 'person', `${needed.length} to look at`)}`
  return html`<details id="previews-${name}"${isOpen && html` open`}><summary>${heading} ${counted}${sign}</summary>
${rows.length === 0 ? html`<p>None of them is what you filter by.</p>` : list}
${more ? html`<p class="fine"><a href="/tenants/${namespace}/previews">All ${all.length} pull requests</a></p>` : undefined}
${access.changePipelines ? pause : undefined}</details>`
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
