// One Application with its releases. Pure. What a person may change is shown as the command that does it with the person's own
// rights: the broker changes nothing for people.
import type { Application } from '../../../api/apps/application.ts'
import type { Release } from '../../../api/apps/release.ts'
import { releaseAuthor } from '../../../api/apps/release-author.ts'
import { type Html, html } from '../../../web/html.ts'
import type { Person } from '../../sessions.ts'
import type { ApplicationView } from '../../tenants/visible-tenants.ts'
import { page } from '../layout.ts'
import { signed } from '../state/sign.ts'
import { isMoving, readyCondition, reasonOf, stateCell } from '../state/state.ts'
import { commitOrImage, facts as factsTable, hostLink, shortText, table, time } from '../table.ts'
import { section } from './sections.ts'

function facts({ spec, status }: Application): readonly (readonly [string, string | Html | undefined])[] {
  const { url, commit: runs = spec.commit, image = spec.image, release, rollback } = status ?? {}
  return [
    ['URL', url === undefined ? undefined : hostLink(url)],
    ['Commit', runs === undefined ? undefined : html`<code>${runs}</code>`],
    ['Image', image === undefined ? undefined : html`<code>${image}</code>`],
    ['Release', release === undefined ? undefined : String(release)],
    ['Pinned to', spec.pinnedRelease === undefined ? undefined : `release ${spec.pinnedRelease}`],
    ['Rolled back', rollback && `from release ${rollback.from} to ${rollback.to}: ${shortText(rollback.reason)}`],
  ]
}

function releaseState({ metadata, spec, status }: Release, runs: number | undefined): Html {
  const ready = readyCondition(status?.conditions)
  if (spec.number === runs) return html`${signed('ready', 'runs')}`
  return ready === undefined ? html`not rolled out yet` : stateCell({ metadata, status: { conditions: [ready] } })
}

function releaseRow(release: Release, runs: number | undefined) {
  const { metadata, spec } = release
  return [
    String(spec.number),
    releaseState(release, runs),
    spec.reason,
    commitOrImage(spec.commit, spec.image),
    shortText(releaseAuthor(spec)),
    time(metadata.creationTimestamp ?? ''),
  ]
}

function releasesSection(namespace: string, { application, access, releases }: ApplicationView): Html | undefined {
  if (releases === undefined) return undefined
  const { name } = application.metadata
  const list = table({
    caption: 'What the Application ran, the newest first.',
    columns: ['Release', 'State', 'Change', 'Commit or image', 'By', 'Made'],
    rows: releases.items.map(item => releaseRow(item, application.status?.release)),
  })
  const pinned = application.spec.pinnedRelease !== undefined
  const command = pinned ? `sekisho rollback ${name} --resume` : `sekisho rollback ${name} <number>`
  const roll = html`<p class="fine">${pinned ? 'Run the newest release again' : 'Run an earlier release again'}: <code>${command} --namespace ${namespace}</code></p>`
  return section(
    'releases',
    'Releases',
    html`${releases.items.length === 0 ? html`<p>There is no release yet.</p>` : list}
${releases.more ? html`<p class="fine">There are older ones: <code>sekisho releases ${name} --namespace ${namespace}</code></p>` : undefined}
${access.changeApplications && releases.items.length > 0 ? roll : undefined}`,
  )
}

/** `/tenants/:namespace/applications/:name`. */
export function applicationPage(options: {
  readonly person: Person
  readonly namespace: string
  readonly view: ApplicationView
}): Html {
  const { person, namespace, view } = options
  const { application } = view
  const rows = facts(application).filter(([, value]) => value !== undefined)
  const moves = isMoving(application)
  return page({
    title: application.metadata.name,
    person,
    live: {
      seconds: moves ? 3 : 15,
      ...(moves ? { reloadSeconds: 10 } : {}),
      summary: `${application.metadata.name}: ${reasonOf(application)}`,
    },
    body: html`<p><a href="/tenants/${namespace}">Everything of this tenant</a></p>
${factsTable([['State', stateCell(application)], ...rows], 'What runs now.')}
${releasesSection(namespace, view)}
<p class="fine">Why is it in this state? <code>sekisho why application/${application.metadata.name} --namespace ${namespace}</code></p>`,
  })
}
