// One play of attacks against the running platform: a world is opened, the attacks run in it, and what they made is removed.
import type { Progress } from '../cluster/progress.ts'
import type { ClusterSettings } from '../cluster/settings.ts'
import type { Attack } from './attack.ts'
import { type Played, type RunOptions, runAttacks } from './run.ts'
import type { World } from './world/world.ts'
import { openWorld } from './world/world.ts'

export type Playing = Pick<RunOptions, 'signal' | 'onAttack'> & {
  readonly settings: ClusterSettings
  readonly progress: Progress
}

/** What is done around the attacks, such as switching a layer off; then the API is sent dry runs only. */
export type Around = (world: World, attack: () => Promise<Played>) => Promise<Played>

export async function playAttacks(
  { settings, progress, ...options }: Playing,
  attacks: readonly Attack[],
  around?: Around,
): Promise<Played> {
  const world = await openWorld(settings, progress, around !== undefined)
  try {
    const attack = (): Promise<Played> => runAttacks(world, attacks, { atOnce: 4, ...options })
    return await (around === undefined ? attack() : around(world, attack))
  } finally {
    await progress.step('clean up', () => world.close())
  }
}
