// Bench `push-to-url`: a number of pushes by a developer, one after the other, on the platform that runs; how long each phase took
// (from .status of the RemoteSync, so by the platform's own clock) and how long the person waited until the URL showed the commit.
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { prepareWorld } from '../../dev/demo/run.ts'
import { deployedSync, ourPhases, pushShop, urlAnswers } from '../../dev/demo/story/deploy.ts'
import { commandLineLogin } from '../../dev/demo/story/sign-in.ts'
import type { RemoteSync } from '../../src/api/remote-sync.ts'
import { percentile } from './percentile.ts'

export type PushToUrl = {
  readonly name: 'push-to-url'
  readonly pushes: number
  /** Seconds. */
  readonly rows: readonly { readonly phase: string; readonly ours: boolean; readonly p50: number; readonly p95: number }[]
}

const otherPhases = [
  ['build', 'buildCreatedAt', 'builtAt'],
  ['rollout', 'deployedAt', 'availableAt'],
] as const

function seconds(sync: RemoteSync, from: string, to: string): number {
  const phases: Readonly<Record<string, string | undefined>> = sync.status?.phases ?? {}
  return (Date.parse(phases[to] ?? '') - Date.parse(phases[from] ?? '')) / 1000
}

export async function pushToUrl(pushes: number): Promise<PushToUrl> {
  const world = await prepareWorld(readClusterSettings())
  const { dave } = world.people
  await commandLineLogin(world, dave)
  const syncs: RemoteSync[] = []
  const waits: number[] = []
  for (let push = 1; push <= pushes; push++) {
    const title = `bench push ${push} of ${pushes} at ${new Date().toISOString()}`
    await pushShop(world, dave, title)
    const pushed = performance.now()
    syncs.push(await deployedSync(world, dave, 180))
    await urlAnswers(world, dave)
    waits.push((performance.now() - pushed) / 1000)
    console.error(`push ${push}: ${waits.at(-1)?.toFixed(1)} s`)
  }
  const row = (phase: string, ours: boolean, values: readonly number[]) => ({
    phase,
    ours,
    p50: percentile(values, 50),
    p95: percentile(values, 95),
  })
  return {
    name: 'push-to-url',
    pushes,
    rows: [
      ...ourPhases.map(([phase, from, to]) =>
        row(
          phase,
          true,
          syncs.map(sync => seconds(sync, from, to)),
        ),
      ),
      row(
        'our share',
        true,
        syncs.map(sync => ourPhases.reduce((sum, [, from, to]) => sum + seconds(sync, from, to), 0)),
      ),
      ...otherPhases.map(([phase, from, to]) =>
        row(
          phase,
          false,
          syncs.map(sync => seconds(sync, from, to)),
        ),
      ),
      row('push to URL, as the person sees it', false, waits),
    ],
  }
}
