// The fourth stage. Built: there is an image of the commit. The address of the source is closed as soon as the build has ended.
import { remoteSyncReasons as reasons } from '../../../api/apps/remote-sync.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Builder } from '../../../services/builds/builder.ts'
import type { BuildLimiter } from '../../../services/builds/limits/build-limiter.ts'
import type { SourceStore } from '../../../services/builds/source-store/source-store.ts'
import { type BuiltImage, desiredBuild } from '../desired.ts'
import { buildKey, type Facts, sourceIdentity } from '../gather.ts'
import { halt } from '../halt.ts'
import { underApproval } from '../source/fork-wall.ts'
import type { Halted, Passed, StageResult } from '../stage.ts'
import { type ReconcileState, withTimes } from '../status.ts'
import type { Fetched, FetchedStart } from './fetch-source.ts'

export type BuildDeps = {
  readonly client: Pick<KubeClient, 'get'>
  readonly builder: Pick<Builder, 'start' | 'cancel'>
  readonly sources: Pick<SourceStore, 'revoke'>
  readonly limiter: Pick<BuildLimiter, 'release'>
  /** Called while an image is built: what is slow to start for its rollout can start now. */
  readonly prepareRollout: () => void
  readonly clock: Clock
}

type Run = { readonly deps: BuildDeps; readonly facts: Facts }

/** For a builder that is not ready. */
const builderRetryMilliseconds = 30_000

export async function buildImage(run: Run, { state, action }: Passed<Fetched>): StageResult<BuiltImage> {
  const { deps, facts } = run
  if (action.kind !== 'keepImage') deps.prepareRollout()
  switch (action.kind) {
    case 'keepImage':
      return { state, ...imageOf(action) }
    case 'start':
      return startBuild(run, state, action)
    case 'wait':
    case 'fetchAgain':
      return { state, halted: action.halt }
    case 'useImage':
    case 'retryBuild':
    case 'recordFailure':
    case 'cancelAndFail':
      await deps.sources.revoke(sourceIdentity(facts, action.build))
      for (const key of action.cancel) await deps.builder.cancel(key)
      if (action.kind !== 'useImage') return { state, halted: action.halt }
      return { state, ...imageOf(action) }
  }
}

function imageOf({ image, commit, isPromoted }: BuiltImage): BuiltImage {
  return { image, commit, isPromoted }
}

/** It has a slot, which it keeps only if the build starts. */
async function startBuild({ deps, facts }: Run, state: ReconcileState, { build, url }: FetchedStart): Promise<Halted> {
  let started = false
  try {
    const wall = { ...facts, status: state.status, commit: build.commit, stage: 'Built' } as const
    const outcome = await underApproval(deps.client, wall, () =>
      deps.builder.start(desiredBuild(facts, build, url, state.status)),
    )
    if (outcome.halted) {
      await deps.sources.revoke(sourceIdentity(facts, build))
      return { state, halted: outcome.halted }
    }
    if (outcome.done.kind === 'refused') {
      const retry = { requeueAfterMilliseconds: builderRetryMilliseconds }
      return { state, halted: halt('Built', reasons.builderNotReady, outcome.done.message, retry) }
    }
    started = true
    const halted = halt('Built', reasons.building, `build ${build.name} was created`)
    return { state: withTimes(state, { buildCreatedAt: deps.clock.now().toISOString() }), halted }
  } finally {
    if (!started) deps.limiter.release(buildKey(facts, build.name))
  }
}
