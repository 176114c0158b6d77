// The sections of a tenant's page about what is in its namespace. Pure. Names, branches and messages are texts that strangers
// may have written: they are escaped like all values, cut, and never become part of an address unencoded.
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import type { Application } from '../../../api/apps/application.ts'
import { applicationsOf } from '../../../api/apps/remote-sync/applications.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { followedRepository } from '../../../api/capabilities/repository-follower.ts'
import { type Html, html } from '../../../web/html.ts'
import type { TenantView } from '../../tenants/visible-tenants.ts'
import { buildState } from '../builds.ts'
import { type Choice, chosen, type PagedList, pageOf } from '../state/choice.ts'
import { classOfState, reasonOf, stateCell } from '../state/state.ts'
import { commit, commitOrImage, hostLink, repositoryUrl, shortText, table, time, webLink, whole } from '../table.ts'

/** What the sections need beside what they show. */
export type Place = {
  readonly namespace: string
  /** The origin of GitHub's pages. */
  readonly web: string
  readonly choice: Choice
}

/** The address of the page of a tenant. */
export const tenantPath = (namespace: string): string => `/tenants/${namespace}`

/** A part of the page that the script exchanges by itself; `kubectl` shows what it leaves out. */
export function section(id: string, title: string, body: Html): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>
${body}</section>
`
}

const rest = (more: boolean, command: string, namespace: string): Html | undefined =>
  more ? html`<p class="fine">There are more: <code>${command} --namespace ${namespace}</code></p>` : undefined

function releaseOf({ spec, status }: Application): Html | undefined {
  const { release, rollback } = status ?? {}
  if (release === undefined) return undefined
  const pinned = spec.pinnedRelease === undefined ? undefined : html` <span class="fine">(pinned)</span>`
  const back = rollback && html` <span class="fine">(release ${rollback.from} was rolled back)</span>`
  return html`${release}${pinned}${back}`
}

function applicationRow(namespace: string, application: Application) {
  const { metadata, spec, status } = application
  const runs = status?.commit ?? spec.commit
  const image = status?.image ?? spec.image
  return [
    html`<a href="/tenants/${namespace}/applications/${encodeURIComponent(metadata.name)}">${whole(metadata.name)}</a>`,
    stateCell(application),
    status?.url === undefined ? undefined : hostLink(status.url),
    commitOrImage(runs, image),
    releaseOf(application),
  ]
}

const noneChosen = html`<p>None of them is what you filter by.</p>`

/** Those that were chosen, the failed ones first, a page of them at a time. */
function listed<T extends RemoteSync | Application>(
  { namespace, choice }: Place,
  list: PagedList,
  items: readonly T[],
  textsOf: (item: T) => readonly (string | undefined)[],
) {
  const rows = items.map(item => ({
    item,
    of: classOfState(item),
    texts: [item.metadata.name, reasonOf(item), ...textsOf(item)],
  }))
  return pageOf(choice, list, { rows: chosen(choice, rows), path: tenantPath(namespace) })
}

/** Applications that belong to no preview. */
export function applicationsSection(place: Place, { applications }: TenantView): Html | undefined {
  if (applications === undefined) return undefined
  if (applications === 'unread')
    return section(
      'applications',
      'Applications',
      html`<p role="alert">They cannot be read at the moment. Load the page again.</p>`,
    )
  const { namespace } = place
  const { items, more } = applications
  const { shown, links } = listed(place, 'applications', items, ({ status }) => [status?.url])
  const list = table({
    caption: 'What runs. The name leads to the releases.',
    columns: ['Application', 'State', 'URL', 'Commit or image', 'Release'],
    rows: shown.map(({ item }) => applicationRow(namespace, item)),
  })
  const some = shown.length === 0 ? noneChosen : list
  const body = items.length === 0 ? html`<p>There is no Application yet.</p>` : some
  return section('applications', 'Applications', html`${body}${links}${rest(more, 'kubectl get applications', namespace)}`)
}

function followed({ spec }: RemoteSync): string {
  const { branch, pullRequest, commit: id, mergeCommit } = spec.source
  if (id !== undefined) return `commit ${id.slice(0, 12)}`
  if (pullRequest !== undefined) return `pull request #${pullRequest}${mergeCommit === true ? ', merged' : ''}`
  return branch === undefined ? 'the default branch' : `branch ${shortText(branch, 100)}`
}

function repositoryCell(web: string, { spec, status }: RemoteSync | AppPipeline): Html {
  const known = followedRepository({ spec, status } as RemoteSync)
  return known === undefined ? html`${spec.repository}` : webLink(repositoryUrl(web, known.name), whole(known.name))
}

/** RemoteSyncs that belong to no preview. */
export function remoteSyncsSection(place: Place, { remoteSyncs, access }: TenantView): Html | undefined {
  if (remoteSyncs === undefined) return undefined
  const { namespace, web } = place
  const { items, more } = remoteSyncs
  const { shown, links } = listed(place, 'remotesyncs', items, ({ spec }) => [spec.repository, ...applicationsOf(spec)])
  const log = ({ metadata, status }: RemoteSync) =>
    access.builds && status?.build !== undefined
      ? html` <a href="/tenants/${namespace}/builds/${encodeURIComponent(metadata.name)}">log of the newest build</a>`
      : undefined
  const list = table({
    caption: 'Which repositories are built, and for which Applications.',
    columns: ['RemoteSync', 'Repository', 'Follows', 'Newest commit', 'Built commit', 'State', 'Applications'],
    rows: shown.map(({ item }) => [
      whole(item.metadata.name),
      repositoryCell(web, item),
      followed(item),
      commit(item.status?.commit),
      commit(item.status?.imageCommit),
      html`${stateCell(item)}${log(item)}`,
      applicationsOf(item.spec).join(', '),
    ]),
  })
  const some = shown.length === 0 ? noneChosen : list
  const body = items.length === 0 ? html`<p>There is no RemoteSync yet.</p>` : some
  return section('remotesyncs', 'RemoteSyncs', html`${body}${links}${rest(more, 'kubectl get remotesyncs', namespace)}`)
}

const maxQueued = 20

/** The newest builds, and those that wait for their turn. */
export function buildsSection({ namespace }: Place, { builds: list }: TenantView): Html | undefined {
  if (list === undefined) return undefined
  const { builds, queued } = list
  const waiting = queued.slice(0, maxQueued).map(({ remoteSync, message }) => html`<li>${remoteSync}: ${shortText(message)}</li>`)
  const newest = table({
    caption: 'The newest builds. The name leads to the log.',
    columns: ['Build', 'RemoteSync', 'Commit', 'State', 'Began'],
    rows: builds.map(build => [
      html`<a href="/tenants/${namespace}/builds/${encodeURIComponent(build.name)}">${whole(build.name)}</a>`,
      whole(build.remoteSync.name),
      commit(build.commit),
      html`${buildState(build)} ${build.ended?.cause === undefined ? undefined : html`<span class="fine">${shortText(build.ended.cause)}</span>`}`,
      time(build.createdAt),
    ]),
  })
  return section(
    'builds',
    'Builds',
    html`${waiting.length === 0 ? undefined : html`<p>Waiting for their turn:</p><ul>${waiting}</ul>`}
${builds.length === 0 ? html`<p>There is no build yet.</p>` : newest}
<p><a href="/tenants/${namespace}/builds">All builds and their logs</a></p>`,
  )
}
