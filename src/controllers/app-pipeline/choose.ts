// Which previews there are to be: exactly those of the open pull requests that pass the policy, as many as the limits allow,
// those with the newest activity first. Pure. Doubt never removes: a preview goes only when the answer of GitHub about its pull
// request alone says why, when the limit or the idle time excludes a pull request that is known to be open, or when it belongs
// to another repository than the one that is followed now.

import type { PreviewState } from '../../api/apps/app-pipeline/status.ts'
import { type AppPipeline, appPipelineReasons as reasons } from '../../api/apps/app-pipeline.ts'
import type { PullRequest } from '../../github/index.ts'
import type { Refusal } from '../../policy/check.ts'
import { activityOf, type Row } from './activity.ts'
import { templateOf } from './desired.ts'
import type { Facts, Preview } from './gather.ts'
import { exclusionByDetails, exclusionOf } from './policy/checks.ts'
import { excessOf, type Requests, requestsOf, sum } from './preview/requests.ts'
import { detailsKey, type KnownPullRequests } from './pull-requests/known.ts'

/** Why a preview does not run as it should; `reason` and `message` are those of its row. */
export type Standing = Refusal & { readonly state: PreviewState }

/** What becomes of one pull request, or of a preview without one. */
export type Entry = {
  readonly number: number
  /** Undefined when GitHub does not show it, or was not asked. */
  readonly pull: PullRequest | undefined
  /** RFC 3339. */
  readonly activeAt: string
  readonly preview: Preview | undefined
} & (
  | { readonly action: 'keep'; readonly pull: PullRequest; readonly paused: boolean }
  /** What exists stays as it is. */
  | { readonly action: 'hold'; readonly standing: Standing | undefined }
  | { readonly action: 'remove'; readonly standing: Standing }
  | { readonly action: 'none'; readonly standing: Standing }
)

/** What GitHub has to be asked before the choice is complete. */
export type Needs = {
  /** Numbers of pull requests whose preview may have to go. */
  readonly confirm: readonly number[]
  readonly details: readonly PullRequest[]
}

export type Choice = { readonly entries: readonly Entry[]; readonly needs: Needs }

type Open = { readonly pull: PullRequest; readonly activeAt: string; readonly preview: Preview | undefined }

/** What one choice works with. */
type Choosing = {
  readonly facts: Facts
  readonly known: KnownPullRequests
  readonly rows: ReadonlyMap<number, Row>
}

const hourMilliseconds = 3_600_000
/** So many pull requests are looked at more closely at a time. */
const detailsAtOnce = 10

function rowsOf(pipeline: AppPipeline): ReadonlyMap<number, Row> {
  return new Map((pipeline.status?.previews ?? []).map(row => [row.number, row]))
}

function confirmed(entry: Open, exclusion: Standing, { known }: Choosing): Entry | 'confirm' {
  const { pull, preview } = entry
  if (preview === undefined) return { ...entry, number: pull.number, action: 'none', standing: exclusion }
  if (!known.confirmed.has(pull.number)) return 'confirm'
  return { ...entry, number: pull.number, action: 'remove', standing: exclusion }
}

/** A preview whose pull request the list does not have, or that belongs to another repository. */
function withoutPull(preview: Preview, { known, facts, rows }: Choosing): Entry | 'confirm' {
  const { number } = preview
  const activeAt = rows.get(number)?.activeAt ?? facts.now.toISOString()
  const base = { number, pull: undefined, activeAt, preview }
  if (preview.repository !== known.repository) {
    const message = 'the preview belongs to the repository that spec.repository named before'
    return { ...base, action: 'remove', standing: { state: 'Removing', reason: reasons.removing, message } }
  }
  if (!known.confirmed.has(number)) return 'confirm'
  const message = 'GitHub does not show the pull request any more (404): the preview stays until GitHub says that it is closed'
  return { ...base, action: 'hold', standing: { state: 'Waiting', reason: reasons.listIncomplete, message } }
}

/** Newest activity first; of two that are equally old, the one that was opened later. */
function byActivity(a: Open, b: Open): number {
  if (a.activeAt !== b.activeAt) return Date.parse(b.activeAt) - Date.parse(a.activeAt)
  return b.pull.number - a.pull.number
}

function isIdle({ activeAt }: Open, { facts: { pipeline, now } }: Choosing): boolean {
  const { idleHours } = pipeline.spec.limits
  return idleHours !== undefined && now.getTime() - Date.parse(activeAt) > idleHours * hourMilliseconds
}

/** What others have of what spec.limits limits. */
type Taken = { readonly places: number; readonly requests: Requests }

/** What the preview of a pull request requests, whether or not it exists. `repository`: the one that is followed. */
function wantedBy(pipeline: AppPipeline, repository: number, pull: PullRequest): Requests {
  return requestsOf(templateOf({ pipeline, repository, pull }).application)
}

/** What the previews request together that are to exist. What is held stays as it is. */
export function requestedBy(pipeline: AppPipeline, repository: number, entries: readonly Entry[]): Requests {
  const requests = entries.flatMap(({ action, pull, preview }) => {
    if (action === 'keep') return [wantedBy(pipeline, repository, pull)]
    return action === 'hold' ? [requestsOf(preview?.application?.spec ?? pipeline.spec.template.application)] : []
  })
  return sum(requests)
}

/** Why a pull request that passes the policy has no preview now; it is known to be open, so nothing has to be confirmed. */
function beyondLimits(open: Open, taken: Taken, choosing: Choosing): Standing | undefined {
  const { pipeline } = choosing.facts
  const { idleHours, previews, resources } = pipeline.spec.limits
  if (isIdle(open, choosing)) {
    const message = `the pull request had no new commit for ${idleHours} hours (spec.limits.idleHours)`
    return { state: 'LeftOut', reason: reasons.idle, message }
  }
  const message =
    taken.places >= previews
      ? `spec.limits.previews allows ${previews} previews, which belong to pull requests with newer activity`
      : resources && excessOf(resources, taken.requests, wantedBy(pipeline, choosing.known.repository, open.pull))
  return message === undefined ? undefined : { state: 'LeftOut', reason: reasons.limitReached, message }
}

function kept(open: Open, { facts: { pipeline } }: Choosing): Entry {
  const { paused = [], suspend } = pipeline.spec
  const { number } = open.pull
  const isPaused = suspend === true || paused.includes(number)
  // What never ran is not made for a pause.
  if (!isPaused || open.preview !== undefined) return { ...open, number, action: 'keep', paused: isPaused }
  return { ...open, number, action: 'none', standing: pausedStanding(suspend === true) }
}

/** What the row of a paused preview says. */
export function pausedStanding(suspended: boolean): Standing {
  const message = suspended
    ? 'spec.suspend is true: set it to false to run the preview'
    : 'spec.paused names the pull request: remove its number to run the preview'
  return { state: 'Paused', reason: reasons.paused, message }
}

const asked: Standing = {
  state: 'Waiting',
  reason: reasons.unreachable,
  message: 'GitHub was not asked yet what the newest commit of the pull request says and changes: the platform tries again',
}

/** What becomes of one that passes the policy; `needs`: what has to be asked first, until when what exists is held. */
type Place = { readonly entry: Entry; readonly isTaken: boolean; readonly needs?: keyof Needs }

function held(open: Open): Entry {
  const { number } = open.pull
  if (open.preview === undefined) return { ...open, number, action: 'none', standing: asked }
  return { ...open, number, action: 'hold', standing: undefined }
}

/** `taken`: what others have. */
function placeOf(open: Open, taken: Taken, choosing: Choosing): Place {
  const { number } = open.pull
  const limit = beyondLimits(open, taken, choosing)
  if (limit !== undefined) {
    const action = open.preview === undefined ? 'none' : 'remove'
    return { entry: { ...open, number, action, standing: limit }, isTaken: false }
  }
  const { policy } = choosing.facts.pipeline.spec
  const details = choosing.known.details.get(detailsKey(open.pull, policy.paths !== undefined))
  if (details === undefined) return { entry: held(open), isTaken: true, needs: 'details' }
  const exclusion = exclusionByDetails({ policy, details })
  if (exclusion === undefined) {
    const entry = kept(open, choosing)
    return { entry, isTaken: entry.action === 'keep' }
  }
  const entry = confirmed(open, exclusion, choosing)
  return entry === 'confirm' ? { entry: held(open), isTaken: true, needs: 'confirm' } : { entry, isTaken: false }
}

/**
 * Gives the places to those that pass, in the order of their activity. One that does not fit leaves what there is to later ones
 * that do: it would not fit without them either. `stays`: what previews have that stay in any case.
 */
function allot(ranked: readonly Open[], stays: Taken, choosing: Choosing): Choice {
  const entries: Entry[] = []
  const confirm: number[] = []
  const details: PullRequest[] = []
  const { pipeline } = choosing.facts
  let taken = stays
  for (const open of ranked) {
    const { entry, isTaken, needs } = placeOf(open, taken, choosing)
    entries.push(entry)
    const { places, requests } = taken
    if (isTaken)
      taken = { places: places + 1, requests: sum([requests, wantedBy(pipeline, choosing.known.repository, open.pull)]) }
    if (needs === 'confirm') confirm.push(entry.number)
    if (needs === 'details' && details.length < detailsAtOnce) details.push(open.pull)
  }
  return { entries, needs: { confirm, details } }
}

/** From what GitHub said. While `needs` are not met, what they are about is held. */
export function choose(facts: Facts, known: KnownPullRequests): Choice {
  const { pipeline, previews, approvals, now } = facts
  const choosing: Choosing = { facts, known, rows: rowsOf(pipeline) }
  const entries: Entry[] = []
  const confirm: number[] = []
  const passing: Open[] = []
  const policyFacts = {
    policy: pipeline.spec.policy,
    pipeline: pipeline.metadata.uid ?? '',
    repository: known.repository,
    approvals,
  }
  const place = (entry: Entry | 'confirm', held: Omit<Entry & { action: 'hold' }, 'action' | 'standing'>): void => {
    if (entry === 'confirm') confirm.push(held.number)
    entries.push(entry === 'confirm' ? { ...held, action: 'hold', standing: undefined } : entry)
  }
  for (const pull of known.pulls.values()) {
    const preview = previews.get(pull.number)
    if (preview !== undefined && preview.repository !== known.repository) continue
    const open: Open = { pull, preview, activeAt: activityOf(pull, choosing.rows.get(pull.number), now) }
    const exclusion = exclusionOf({ ...policyFacts, pull })
    if (exclusion === undefined) passing.push(open)
    // A closed one without a preview is nobody's any more.
    else if (pull.state === 'open' || preview !== undefined)
      place(confirmed(open, exclusion, choosing), { ...open, number: pull.number })
  }
  for (const preview of previews.values()) {
    if (known.pulls.has(preview.number) && preview.repository === known.repository) continue
    const entry = withoutPull(preview, choosing)
    const activeAt = choosing.rows.get(preview.number)?.activeAt ?? now.toISOString()
    place(entry, { number: preview.number, pull: undefined, activeAt, preview })
  }
  const places = entries.filter(({ action }) => action === 'hold').length
  const stays = { places, requests: requestedBy(pipeline, known.repository, entries) }
  const allotted = allot(passing.toSorted(byActivity), stays, choosing)
  const all = [...entries, ...allotted.entries].sort((a, b) => a.number - b.number)
  return {
    entries: all,
    needs: { confirm: [...confirm, ...allotted.needs.confirm], details: allotted.needs.details },
  }
}

export function hasNeeds({ needs }: Choice): boolean {
  return needs.confirm.length + needs.details.length > 0
}

/** When GitHub cannot be asked: what exists stays as it is, and what the last status says of other pull requests still holds. */
export function withoutAnswer({ pipeline, previews, now }: Facts): readonly Entry[] {
  const rows = rowsOf(pipeline)
  const held = [...previews.values()].map((preview): Entry => {
    const { number } = preview
    const activeAt = rows.get(number)?.activeAt ?? now.toISOString()
    return { number, pull: undefined, activeAt, preview, action: 'hold', standing: undefined }
  })
  const others = [...rows.values()]
    .filter(({ number }) => !previews.has(number))
    .map(({ number, activeAt, state, reason, message }): Entry => {
      return { number, pull: undefined, activeAt, preview: undefined, action: 'none', standing: { state, reason, message } }
    })
  return [...held, ...others].sort((a, b) => a.number - b.number)
}
