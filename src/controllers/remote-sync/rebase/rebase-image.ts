// The last thing that a run does, and the least: an image on a run image that its builder has replaced gets the newer one. It
// never halts a RemoteSync, which runs its newest commit meanwhile and after a failure.

import type { Log } from '../../../lib/log.ts'
import type { Builder } from '../../../services/builds/builder.ts'
import type { BuildLimiter } from '../../../services/builds/limits/build-limiter.ts'
import type { Rebaser } from '../../../services/builds/rebaser.ts'
import { keptBuilds } from '../decide-build.ts'
import { buildKey, type Facts } from '../gather.ts'
import type { ReconcileState, RemoteSyncStatus } from '../status.ts'
import {
  decideRebase,
  planRebase,
  type RebasePlan,
  withBegunRebase,
  withFailedRebase,
  withNextAttempt,
  withRebased,
} from './decide-rebase.ts'

export type RebaseDeps = {
  readonly builder: Pick<Builder, 'observe' | 'cancel' | 'ofOwner' | 'known'>
  readonly limiter: Pick<BuildLimiter, 'tryAcquireRebase' | 'release'>
  readonly rebaser: Rebaser
}

/** What is left to do: another look after this time, or an image to deploy. */
export type Rebasing = {
  readonly state: ReconcileState
  readonly requeueAfterMilliseconds?: number
  readonly rebased?: { readonly image: string; readonly commit: string }
}

/** Builds come first: one of any tenant may have begun or ended meanwhile. */
const retryMilliseconds = 60_000
const unreadRetryMilliseconds = 10_000

type Run = { readonly deps: RebaseDeps; readonly facts: Facts; readonly log: Log }

function planOf({ rebaser }: RebaseDeps, facts: Facts, status: RemoteSyncStatus): RebasePlan | undefined {
  const newest = facts.remoteSync.spec.build.strategy === 'Buildpacks' ? rebaser.baseOf(facts.builder) : undefined
  return planRebase(facts, status, newest)
}

/** The name of the build that must not be ended although no commit needs one. */
export function rebaseGoingOn(deps: RebaseDeps, facts: Facts, status: RemoteSyncStatus): string | undefined {
  return planOf(deps, facts, status)?.name
}

/** @throws KubeError where a retry may help */
export async function rebaseImage(run: Run, state: ReconcileState): Promise<Rebasing> {
  const { deps, facts, log } = run
  const { now } = facts
  const plan = planOf(deps, facts, state.status)
  if (plan === undefined) return { state }
  const key = buildKey(facts, plan.name)
  const mayBegin = (): boolean => deps.limiter.tryAcquireRebase(facts.owner, { tenant: key.namespace, name: key.name })
  // One that exists is known soon: what only waits asks the API server nothing.
  if (!deps.builder.known(key) && !mayBegin()) return { state, requeueAfterMilliseconds: retryMilliseconds }
  const action = decideRebase(plan, await deps.builder.observe(key, facts.owner), now)
  switch (action.kind) {
    case 'start':
      return mayBegin() ? start(run, state, plan) : { state, requeueAfterMilliseconds: retryMilliseconds }
    case 'wait':
      return { state: withBegun(state, plan), requeueAfterMilliseconds: action.milliseconds }
    case 'readAgain':
      log.info({ build: plan.name, reason: action.message }, 'the image of a rebase cannot be read: it is tried again')
      return { state: withBegun(state, plan), requeueAfterMilliseconds: unreadRetryMilliseconds }
    case 'retry':
      log.info({ build: plan.name, reason: action.message }, 'a rebase is tried again')
      await endFormer(run, plan)
      return {
        state: { ...state, status: withNextAttempt(facts.remoteSync, state.status, plan) },
        requeueAfterMilliseconds: action.milliseconds,
      }
    case 'fail':
      if (action.isStuck === true) await deps.builder.cancel(key)
      await endFormer(run, plan)
      return failed(run, state, plan, action.message)
    case 'use':
      await endFormer(run, plan)
      log.info({ build: plan.name, image: action.image, runImage: plan.runImage }, 'image rebased')
      return {
        state: { ...state, status: withRebased(state.status, plan, action.image) },
        rebased: { image: action.image, commit: plan.commit },
      }
  }
}

/** Without pushes, nothing else would delete what has ended. */
async function endFormer({ deps, facts }: Run, { name }: RebasePlan): Promise<void> {
  const former = deps.builder.ofOwner(facts.owner).filter(({ ended, key }) => ended && key.name !== name)
  for (const { key } of former.slice(keptBuilds - 1)) await deps.builder.cancel(key)
}

/** It has a slot. */
async function start(run: Run, state: ReconcileState, plan: RebasePlan): Promise<Rebasing> {
  const { deps, facts, log } = run
  const key = buildKey(facts, plan.name)
  let started = false
  try {
    const { image, commit, stack } = plan
    const { application } = facts.remoteSync.spec
    const builder = facts.builder === undefined ? {} : { builder: facts.builder }
    const outcome = await deps.rebaser.start({ key, owner: facts.owner, application, image, commit, stack, ...builder })
    if (outcome.kind === 'impossible') return failed(run, state, plan, outcome.message)
    if (outcome.kind === 'refused') {
      log.info({ build: plan.name, reason: outcome.message }, 'a rebase cannot start: it is tried again')
      return { state, requeueAfterMilliseconds: retryMilliseconds }
    }
    started = true
    return { state: withBegun(state, plan) }
  } finally {
    if (!started) deps.limiter.release(key)
  }
}

function withBegun(state: ReconcileState, plan: RebasePlan): ReconcileState {
  return { ...state, status: withBegunRebase(state.status, plan) }
}

function failed({ log }: Run, state: ReconcileState, plan: RebasePlan, message: string): Rebasing {
  log.error(
    { build: plan.name, runImage: plan.runImage, reason: message },
    'an image was not rebased: its next build has the newer run image',
  )
  const status: RemoteSyncStatus = withFailedRebase(state.status, plan, message)
  return { state: { ...state, status } }
}
