// The status of an AppPipeline: a row for each open pull request, counts, conditions, and the Events about previews. Pure.

import { isOfStranger, maxRows } from '../../api/apps/app-pipeline/status.ts'
import { type AppPipeline, ownsApplications, appPipelineReasons as reasons } from '../../api/apps/app-pipeline.ts'
import { mergeConditions, type WantedCondition } from '../../kube/object/conditions.ts'
import type { ObjectEvent } from '../../kube/object/events.ts'
import { defined } from '../../lib/json/defined.ts'
import { type OwnedStanding, standingOf } from '../kit/owned-application/state.ts'
import type { Refusal } from '../kit/refusal.ts'
import { changeTime } from '../kit/repository/change-times.ts'
import { wakeOf } from '../kit/repository/observed-wake.ts'
import type { Row } from './activity.ts'
import { type Entry, pausedStanding, requestedBy, type Standing } from './choose.ts'
import { serviceFactsOf } from './desired.ts'
import { heldService, isDeleted, split, standingWithServices } from './preview/own-services.ts'
import { requestsText } from './preview/requests.ts'
import type { KnownPullRequests } from './pull-requests/known.ts'

export type AppPipelineStatus = NonNullable<AppPipeline['status']>

/** What the status reports. */
export type Observation = {
  readonly pipeline: AppPipeline
  readonly now: Date
  readonly entries: readonly Entry[]
  /** What the API server refused, by number. */
  readonly refused: ReadonlyMap<number, Standing>
  /** What GitHub said; undefined when it was not asked since the last start. */
  readonly known: KnownPullRequests | undefined
  /** Why GitHub was not asked now, or did not answer. */
  readonly halt: Refusal | undefined
  /** The name of the owned grant, when the run came so far. */
  readonly grant: string | undefined
}

const maxMessage = 512
const maxReason = 128

function standing(entry: Entry, observation: Observation): Standing {
  const { refused, pipeline } = observation
  const problem = refused.get(entry.number)
  if (problem !== undefined) return problem
  switch (entry.action) {
    case 'none':
      return entry.standing
    case 'remove': {
      const held = entry.preview && heldService(entry.preview)
      return { ...entry.standing, state: 'Removing', ...(held === undefined ? {} : { message: held }) }
    }
    case 'hold':
      return entry.standing ?? existing(entry)
    case 'keep': {
      const now = withServices(entry, observation)
      return entry.paused && now.state !== 'Removing' ? pausedStanding(pipeline.spec.suspend === true) : now
    }
  }
}

/** An entry that keeps or holds something may have been made in this very run: the cache shows it later. */
function existing({ preview, number, pull }: Entry): OwnedStanding {
  const objects = preview ?? { number, application: undefined, remoteSync: undefined }
  return standingOf(objects, { noun: ownsApplications.noun, isBuilt: true, headCommit: pull?.headCommit })
}

/** Of one that is kept: what it says of the services that it has for itself. */
function withServices(entry: Extract<Entry, { readonly action: 'keep' }>, { pipeline, known }: Observation): Standing {
  const now = existing(entry)
  const { preview, pull } = entry
  if (preview === undefined || known === undefined) return now
  const { current } = split(preview.services, serviceFactsOf({ pipeline, repository: known.repository, pull }))
  if (current.some(isDeleted)) {
    const message = heldService(preview) ?? 'a service of the preview was deleted: the preview is made again, with another one'
    return { state: 'Removing', reason: reasons.removing, message }
  }
  return preview.application?.status?.release === undefined ? standingWithServices(current, now) : now
}

/**
 * Undefined when the commit is not known: nothing is reported about a preview of which GitHub says nothing and the last status
 * said nothing.
 */
function rowOf(entry: Entry, observation: Observation, before: Row | undefined): Row | undefined {
  const { number, pull, preview, activeAt } = entry
  const headCommit = pull?.headCommit ?? before?.headCommit ?? preview?.remoteSync?.status?.commit
  if (headCommit === undefined) return undefined
  const { state, reason, message } = standing(entry, observation)
  const headRepository = pull === undefined ? before?.headRepository : pull.headRepository
  const application = preview?.application ?? preview?.remoteSync
  const url = preview?.application?.status?.url
  return {
    number,
    headCommit,
    ...defined({ headRepository }),
    state,
    reason: reason.slice(0, maxReason),
    message: message.slice(0, maxMessage),
    ...defined({ url }),
    ...(application === undefined ? {} : { application: application.metadata.name }),
    since: before?.state === state ? before.since : observation.now.toISOString(),
    ...(state === 'WaitingForApproval' ? changedAt(pull, before) : {}),
    activeAt,
  }
}

/**
 * Whoever waits for a word of a person looks again when it changes. A time that is none is left out: the API server would
 * refuse the status.
 */
function changedAt(pull: Entry['pull'], before: Row | undefined): Pick<Row, 'updatedAt'> {
  const updatedAt = changeTime(pull?.updatedAt ?? before?.updatedAt)
  return defined({ updatedAt })
}

type Ranked = { readonly row: Row; readonly rank: number }

function byImportance(a: Ranked, b: Ranked): number {
  return a.rank - b.rank || Date.parse(b.row.activeAt) - Date.parse(a.row.activeAt) || b.row.number - a.row.number
}

/**
 * The rows that have a place: those with a preview; then those of the repository and what was approved; then forks, which take
 * turns, so that many pull requests from one fork do not take the places of the others. Of equals those with the newest
 * activity.
 */
export function mostImportant(rows: readonly Row[], repository: number | undefined): readonly Row[] {
  const newest = rows.map(row => ({ row, rank: 0 })).toSorted(byImportance)
  const turns = new Map<number | undefined, number>()
  const ranked = newest.map(({ row }) => {
    if (!isOfStranger(row, repository)) return { row, rank: row.application === undefined ? 1 : 0 }
    const turn = (turns.get(row.headRepository) ?? 0) + 1
    turns.set(row.headRepository, turn)
    return { row, rank: 1 + turn }
  })
  return ranked
    .sort(byImportance)
    .slice(0, maxRows)
    .map(({ row }) => row)
    .sort((a, b) => a.number - b.number)
}

function rowsOf(observation: Observation): readonly Row[] {
  const { pipeline, known, entries } = observation
  const before = new Map((pipeline.status?.previews ?? []).map(row => [row.number, row]))
  const rows = entries.flatMap(entry => rowOf(entry, observation, before.get(entry.number)) ?? [])
  return rows.length <= maxRows ? rows : mostImportant(rows, known?.repository ?? pipeline.status?.repository?.id)
}

function countsOf(entries: readonly Entry[], rows: readonly Row[]): NonNullable<AppPipelineStatus['counts']> {
  const inState = (...states: readonly Row['state'][]): number => rows.filter(({ state }) => states.includes(state)).length
  const open = entries.filter(({ pull, action }) => pull?.state === 'open' || (pull === undefined && action !== 'remove'))
  return { open: open.length, running: inState('Running'), waiting: inState('Waiting', 'WaitingForApproval', 'Building') }
}

function contradicted({ entries }: Observation): Entry | undefined {
  return entries.find(entry => entry.action === 'hold' && entry.standing?.reason === reasons.listIncomplete)
}

function listedCondition(observation: Observation): WantedCondition {
  const { halt, known } = observation
  const type = 'Listed'
  if (halt !== undefined) return { type, status: 'False', reason: halt.reason, message: halt.message.slice(0, 1000) }
  const doubtful = contradicted(observation)
  if (doubtful !== undefined) {
    const message = `GitHub does not show pull request ${doubtful.number}, which has a preview: the preview stays`
    return { type, status: 'False', reason: reasons.listIncomplete, message }
  }
  const [missing] = known?.missing ?? []
  if (missing !== undefined) {
    const message = `GitHub's list leaves out pull request ${missing}, which is open: the platform asks again`
    return { type, status: 'False', reason: reasons.listIncomplete, message }
  }
  if (known?.isCut === true) {
    const message = `more than ${known.pulls.size} pull requests are open: only those that were opened last are listed`
    return { type, status: 'False', reason: reasons.tooMany, message }
  }
  return { type, status: 'True', reason: reasons.listed, message: 'all open pull requests are known' }
}

function readyCondition(observation: Observation, listed: WantedCondition): WantedCondition {
  const type = 'Ready'
  const { refused, entries, pipeline } = observation
  if (listed.status !== 'True') return { ...listed, type, message: `${listed.message}; what runs goes on` }
  const [problem] = [...refused].sort(([a], [b]) => a - b)
  if (problem !== undefined) {
    const [number, { reason, message }] = problem
    return { type, status: 'False', reason, message: `pull request ${number}: ${message}`.slice(0, 1000) }
  }
  if (pipeline.spec.suspend === true)
    return { type, status: 'False', reason: reasons.suspended, message: 'spec.suspend is true: all previews are paused' }
  const leaving = entries.find(entry => entry.action === 'remove')
  if (leaving !== undefined) {
    const message = `the preview of pull request ${leaving.number} is being removed: ${leaving.standing.message}`
    return { type, status: 'False', reason: reasons.removing, message: message.slice(0, 1000) }
  }
  const message = 'every pull request that may have a preview has one, and no other has'
  return { type, status: 'True', reason: reasons.upToDate, message }
}

/** The repository as GitHub named it last; its name is in every pull request. */
function repositoryOf({ pipeline, known, halt }: Observation): AppPipelineStatus['repository'] {
  const before = pipeline.status?.repository
  if (known === undefined || (halt !== undefined && before?.requested === pipeline.spec.repository)) return before
  const [pull] = known.pulls.values()
  const former = before?.id === known.repository ? before.name : pipeline.spec.repository
  return { id: known.repository, name: pull?.repositoryName ?? former, requested: pipeline.spec.repository }
}

/** Only where it is limited: without `processes` in the template it would be a guess. */
function requestedOf({ pipeline, entries, known }: Observation): Pick<AppPipelineStatus, 'requested'> {
  if (pipeline.spec.limits.resources === undefined) return {}
  const repository = known?.repository ?? pipeline.status?.repository?.id ?? 0
  return { requested: requestsText(requestedBy(pipeline, repository, entries)) }
}

/** The status to write. */
export function nextStatus(observation: Observation): AppPipelineStatus {
  const { pipeline, now, entries, grant, halt } = observation
  const generation = pipeline.metadata.generation ?? 1
  const listed = listedCondition(observation)
  const wanted = [listed, readyCondition(observation, listed)]
  const previews = rowsOf(observation)
  const repository = repositoryOf(observation)
  const name = grant ?? pipeline.status?.grant
  // A webhook is handled when GitHub has answered after it.
  const wake = halt === undefined ? wakeOf(pipeline) : pipeline.status?.observedWake
  return {
    ...defined({ grant: name, repository, observedWake: wake }),
    ...(previews.length === 0 ? {} : { previews: [...previews] }),
    ...requestedOf(observation),
    counts: countsOf(entries, previews),
    observedGeneration: generation,
    conditions: mergeConditions(pipeline.status?.conditions, wanted, generation, now),
  }
}

const warnings: readonly Row['state'][] = ['Failed', 'Conflict']
/** Of a burst of changes, so many are recorded: an Event is not the record of it. */
const maxEvents = 10

/** One Event for each preview whose state or reason has changed. */
export function eventsOf(before: AppPipeline['status'], after: AppPipelineStatus): readonly ObjectEvent[] {
  const former = new Map((before?.previews ?? []).map(row => [row.number, row]))
  const changed = (after.previews ?? []).filter(({ number, state, reason }) => {
    const row = former.get(number)
    return row === undefined || row.state !== state || row.reason !== reason
  })
  return changed.slice(0, maxEvents).map(({ number, state, message, url }) => ({
    type: warnings.includes(state) ? 'Warning' : 'Normal',
    reason: `Preview${state}`,
    message: `pull request ${number}: ${state === 'Running' && url !== undefined ? url : message}`,
  }))
}
