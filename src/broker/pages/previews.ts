// The pull requests of a tenant's AppPipelines, and what waits for an approval. Pure. Names of repositories and messages are
// text: they are escaped like all values. The form names the commit that the person sees: a push in between makes it a refusal,
// never the approval of something else.
import type { AppPipeline } from '../../api/apps/app-pipeline.ts'
import { followedRepository } from '../../api/capabilities/repository-follower.ts'
import { type Html, html } from '../../web/html.ts'
import type { PreviewRow } from '../previews/visible-previews.ts'
import type { Person } from '../sessions.ts'
import { formSecret, page } from './layout.ts'
import { classOfPreview, signed } from './state/sign.ts'
import { hostLink, repositoryUrl, table, webLink } from './table.ts'

type Options = {
  readonly person: Person
  readonly namespace: string
  readonly pipelines: readonly AppPipeline[]
  /** The origin of GitHub's pages. */
  readonly web: string
}

/** A link to the changes of a pull request up to its newest commit; the text alone while the repository is not known. */
export function changesLink(web: string, pipeline: AppPipeline, { number, headCommit }: PreviewRow, text: string): Html {
  const repository = followedRepository(pipeline)
  const shown = html`<code${text.length < headCommit.length && html` class="word"`}>${text}</code>`
  if (repository === undefined) return shown
  return webLink(repositoryUrl(web, repository.name, 'pull', number, 'commits', headCommit), shown)
}

/** The form that approves exactly the commit that is shown. */
export function approveForm(
  { person, namespace }: Pick<Options, 'person' | 'namespace'>,
  { metadata: { name } }: AppPipeline,
  { number, headCommit }: PreviewRow,
): Html {
  return html`<form method="post" action="/tenants/${namespace}/previews/approve" class="inline">${formSecret(person)}
<input type="hidden" name="pipeline" value="${name}"><input type="hidden" name="number" value="${number}">
<input type="hidden" name="headCommit" value="${headCommit}"><button id="approve-${name}-${number}" aria-label="Approve commit ${headCommit.slice(0, 12)} of pull request ${number}">Approve</button></form>`
}

function row(options: Options, pipeline: AppPipeline, preview: PreviewRow) {
  const { number, headCommit, state, message, url } = preview
  return [
    `#${number}`,
    signed(classOfPreview[state], state),
    changesLink(options.web, pipeline, preview, headCommit),
    url === undefined ? html`<span class="fine">${message}</span>` : hostLink(url),
    state === 'WaitingForApproval' ? approveForm(options, pipeline, preview) : undefined,
  ]
}

function section(options: Options, pipeline: AppPipeline): Html {
  const rows = pipeline.status?.previews ?? []
  const list = table({
    caption: 'Open pull requests.',
    columns: ['Pull request', 'State', 'Commit', 'URL or reason', 'Approval'],
    rows: rows.map(preview => row(options, pipeline, preview)),
  })
  return html`<h2>${pipeline.metadata.name}: ${pipeline.spec.repository}</h2>
${rows.length === 0 ? html`<p>There is no open pull request.</p>` : list}`
}

function summaryOf(pipelines: readonly AppPipeline[]): string {
  const rows = pipelines.flatMap(({ status }) => status?.previews ?? [])
  const waiting = rows.filter(({ state }) => state === 'WaitingForApproval').length
  return `${rows.filter(({ state }) => state === 'Running').length} previews run, ${waiting} wait for approval`
}

/** `/tenants/:namespace/previews`. */
export function previewsPage(options: Options): Html {
  const { person, namespace, pipelines } = options
  const waits = pipelines.some(({ status }) => status?.previews?.some(({ state }) => state === 'WaitingForApproval'))
  const note = html`<p>Commits of forks wait until somebody who may write to the repository on GitHub has looked at them. An approval is for one commit: after a push, somebody has to approve again.</p>`
  return page({
    title: `Previews in ${namespace}`,
    person,
    live: { seconds: 10, summary: summaryOf(pipelines) },
    body: html`<p><a href="/tenants/${namespace}">Everything of this tenant</a></p>
${waits ? note : undefined}
${pipelines.length === 0 ? html`<p>There is no AppPipeline in this namespace.</p>` : pipelines.map(pipeline => section(options, pipeline))}`,
  })
}
