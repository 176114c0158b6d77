// The last thing that a run does, and the least: an image on a run image that its builder has replaced gets the newer one. It
// never halts a RemoteSync, which runs its newest commit meanwhile and after a failure.

import type { Log } from '../../../lib/log.ts'
import type { Builder } from '../../../services/builds/builder.ts'
import type { BuildLimiter } from '../../../services/builds/limits/build-limiter.ts'
import type { Rebaser } from '../../../services/builds/rebaser.ts'
import { keptBuilds } from '../decide-build.ts'
import { buildKey, type Facts } from '../gather.ts'
import type { ReconcileState, RemoteSyncStatus } from '../status.ts'
import { decideRebase, planRebase, type RebaseAction, type RebasePlan, withFailedRebase, withRebase } from './decide-rebase.ts'

export type RebaseDeps = {
  readonly builder: Pick<Builder, 'observe' | 'cancel' | 'ofOwner' | 'known'>
  readonly limiter: Pick<BuildLimiter, 'tryAcquireRebase' | 'release'>
  readonly rebaser: Rebaser
}

/** When to look again; at once where there is another image, which the next run sets on the Applications. */
export type Rebasing = { readonly state: ReconcileState; readonly requeueAfterMilliseconds?: number | undefined }

/** Builds come first: one of any tenant may have begun or ended meanwhile. */
const retryMilliseconds = 60_000

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
  const { deps, facts } = run
  const plan = planOf(deps, facts, state.status)
  if (plan === undefined) return { state }
  const key = buildKey(facts, plan.name)
  const later = { state, requeueAfterMilliseconds: retryMilliseconds }
  const mayBegin = (): boolean => deps.limiter.tryAcquireRebase(facts.owner, { tenant: key.namespace, name: key.name })
  // One that exists is known soon: what only waits asks the API server nothing.
  if (!deps.builder.known(key) && !mayBegin()) return later
  const action = decideRebase(facts, state.status, plan, await deps.builder.observe(key, facts.owner))
  if (action.kind !== 'start') {
    if (action.kind === 'fail' && action.isStuck === true) await deps.builder.cancel(key)
    if (action.kind !== 'wait') await endFormer(run, plan)
    logAction(run, plan, action)
    return { state: { ...state, status: action.status }, requeueAfterMilliseconds: action.milliseconds }
  }
  return mayBegin() ? start(run, state, plan) : later
}

const logMessages: Readonly<Record<Exclude<RebaseAction['kind'], 'start'>, string>> = {
  wait: 'the image of a rebase cannot be read: it is tried again',
  retry: 'a rebase is tried again',
  fail: 'an image was not rebased: its next build has the newer run image',
  use: 'image rebased',
}

/** A rebase that only goes on is not logged. */
function logAction(
  { log }: Run,
  { name, runImage }: RebasePlan,
  { kind, message, status }: Exclude<RebaseAction, { kind: 'start' }>,
) {
  const build = name
  if (kind === 'fail') log.error({ build, runImage, reason: message }, logMessages.fail)
  else if (kind === 'use') log.info({ build, runImage, image: status.image }, logMessages.use)
  else if (message !== undefined) log.info({ build, reason: message }, logMessages[kind])
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
    if (outcome.kind === 'impossible') {
      const status = withFailedRebase(state.status, plan, outcome.message)
      logAction(run, plan, { kind: 'fail', status, message: outcome.message })
      return { state: { ...state, status } }
    }
    if (outcome.kind === 'refused') {
      log.info({ build: plan.name, reason: outcome.message }, 'a rebase cannot start: it is tried again')
      return { state, requeueAfterMilliseconds: retryMilliseconds }
    }
    started = true
    return { state: { ...state, status: withRebase(state.status, plan) } }
  } finally {
    if (!started) deps.limiter.release(key)
  }
}
