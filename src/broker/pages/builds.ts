// The builds of a tenant, and one build with the end of its log. Pure. Everything that a build printed is text: it is escaped
// like all values.

import type { BuildRecord } from '../../store/builds/build-record.ts'
import { type Html, html } from '../../web/html.ts'
import type { BuildList } from '../builds/visible-builds.ts'
import type { Person } from '../sessions.ts'
import { page } from './layout.ts'
import { classOfBuild, signed } from './state/sign.ts'
import { commit, facts, table, time, whole } from './table.ts'

/** The page of a build that runs, and a list with one. */
const live = { seconds: 3, reloadSeconds: 3 } as const

function summaryOf({ builds, queued }: BuildList): string {
  return `${builds.filter(({ ended }) => ended === undefined).length} running, ${queued.length} waiting`
}

/** The outcome, or the step that runs. */
function stateOf({ ended, steps }: BuildRecord): string {
  if (ended !== undefined) return ended.outcome
  const step = steps.find(({ state }) => state === 'Running')?.name
  return step === undefined ? 'Starting' : `Running: ${step}`
}

/** The same with its sign. */
export function buildState(build: BuildRecord): Html {
  return signed(classOfBuild(build), stateOf(build))
}

function minutesAndSeconds(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

function duration({ createdAt, ended }: BuildRecord, now: Date): string {
  return minutesAndSeconds((ended?.at ?? now).getTime() - createdAt.getTime())
}

/** `/tenants/:namespace/builds`. */
export function buildsPage(options: {
  readonly person: Person
  readonly namespace: string
  readonly list: BuildList
  readonly now: Date
}): Html {
  const { person, namespace, list, now } = options
  const { builds, queued } = list
  const runs = builds.some(({ ended }) => ended === undefined) || queued.length > 0
  const waiting = table({
    caption: 'What waits for its turn.',
    columns: ['RemoteSync', 'State'],
    rows: queued.map(({ remoteSync, message }) => [whole(remoteSync), html`${signed('progress', 'Queued')} ${message}`]),
  })
  const newest = table({
    caption: 'The newest builds. The name leads to the log.',
    columns: ['Build', 'RemoteSync', 'Commit', 'State', 'Began', 'Took'],
    rows: builds.map(build => [
      html`<a href="/tenants/${namespace}/builds/${build.name}">${whole(build.name)}</a>`,
      whole(build.remoteSync.name),
      commit(build.commit),
      buildState(build),
      time(build.createdAt),
      whole(duration(build, now)),
    ]),
  })
  return page({
    title: `Builds in ${namespace}`,
    person,
    ...(runs ? { live: { ...live, summary: summaryOf(list) } } : {}),
    body: html`<p><a href="/tenants/${namespace}">Everything of this tenant</a></p>
${queued.length === 0 ? undefined : html`<h2>Queue</h2>${waiting}`}
${builds.length === 0 ? html`<p>There is no build here yet. A build begins when a RemoteSync finds a new commit.</p>` : newest}`,
  })
}

/** `/tenants/:namespace/builds/:name`. `log` is the end of the log; `isWhole` says whether it is all of it. */
export function buildPage(options: {
  readonly person: Person
  readonly build: BuildRecord
  readonly log: string
  readonly isWhole: boolean
  readonly now: Date
}): Html {
  const { person, build, log, isWhole, now } = options
  const { namespace, name, remoteSync, attempt, ended, createdAt, leftOut } = build
  const cause = ended?.cause
  const rows: readonly (readonly [string, string | Html])[] = [
    ['State', buildState(build)],
    ['RemoteSync', remoteSync.name],
    ['Commit', html`<code>${build.commit}</code>${attempt > 1 ? ` (attempt ${attempt})` : ''}`],
    ['Began', time(createdAt)],
    [ended === undefined ? 'Runs for' : 'Took', duration(build, now)],
  ]
  const heading = isWhole ? 'Log' : ended === undefined ? 'The newest lines of the log' : 'The end of the log'
  return page({
    title: `Build ${name}`,
    person,
    ...(ended === undefined ? { live: { ...live, summary: `Build ${name}: ${stateOf(build)}` } } : {}),
    body: html`<p><a href="/tenants/${namespace}">Everything of this tenant</a> · <a href="/tenants/${namespace}/builds">Builds in ${namespace}</a></p>
${cause === undefined ? undefined : html`<p role="alert">${cause}</p>`}
${facts(rows)}
<h2>${heading}</h2>
${leftOut > 0 ? html`<p class="fine">The log is longer than what is kept: ${leftOut} bytes of its middle are left out.</p>` : undefined}
${log === '' ? html`<p>Nothing yet.</p>` : html`<pre class="log" id="log" data-scrolls tabindex="0" aria-label="Log">${log}</pre>`}
<p><a href="/tenants/${namespace}/builds/${name}/log">The whole log as text</a></p>
<p class="fine">In a terminal: <code>sekisho builds logs ${ended === undefined ? '-f ' : ''}${name} --namespace ${namespace}</code></p>`,
  })
}
