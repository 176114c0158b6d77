// Switches one layer of the local platform off, and puts it back whatever happens meanwhile: at the end of the work, or, after a
// crash, by the next run and by `make up`. That it is off, stays off and is back is asked of the API server each time.
import { AppError, messageOf } from '../../../src/lib/errors.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { AdminClient } from '../../cluster/control-plane/admin-client.ts'
import type { Progress } from '../../cluster/progress.ts'
import type { ClusterSettings } from '../../cluster/settings.ts'
import { upWithout } from '../../cluster/up.ts'
import { forgetIntent, type Intent, readIntent, writeIntent } from './intent.ts'
import type { LayerDeps, Standing } from './layer.ts'
import { type LayerName, type LayerSwitches, layerNames, layerSwitches } from './list.ts'

export type Switching = LayerDeps & { readonly stateFolder: string; readonly switches: LayerSwitches }

/** Of the local cluster. */
export function switchingOf(
  { settings, progress }: { readonly settings: ClusterSettings; readonly progress: Progress },
  admin: AdminClient,
): Switching {
  const { stateFolder, repository } = settings
  const apiServerWithout: Switching['apiServerWithout'] = without => upWithout({ settings, progress }, without)
  return { admin, stateFolder, switches: layerSwitches(repository), apiServerWithout }
}

const patience = { timeoutMilliseconds: limits.rollout }

async function untilStanding(deps: Switching, layer: LayerName, wanted: readonly Standing[]): Promise<void> {
  const what = `the layer ${layer} to be ${wanted[0]}`
  await waitUntil(what, async seen => wanted.includes(seen(await deps.switches[layer].standing(deps))) || undefined, patience)
}

/**
 * `work` runs while the layer is off. Rejects without having begun when the layer does not stand, or cannot be switched off;
 * after the work when it was not off all the time; and when it cannot be put back, which the next run tries again.
 */
export async function withoutLayer<T>(deps: Switching, layer: LayerName, work: () => Promise<T>): Promise<T> {
  const { switches, stateFolder } = deps
  const one = switches[layer]
  await untilStanding(deps, layer, ['on'])
  const intent: Intent = { layer, kept: await one.keep(deps) }
  await writeIntent(stateFolder, intent)
  try {
    await one.off(deps, intent.kept)
    await untilStanding(deps, layer, ['off'])
    const result = await work()
    if ((await one.standing(deps)) !== 'off')
      throw new AppError('conflict', `something put the layer ${layer} back during the run: its results prove nothing`)
    return result
  } finally {
    await putBack(deps, intent, ['on'])
  }
}

async function putBack(deps: Switching, intent: Intent, wanted: readonly Standing[]): Promise<void> {
  await bringBack(deps, intent, wanted)
  await forgetIntent(deps.stateFolder)
}

async function bringBack(deps: Switching, { layer, kept }: Intent, wanted: readonly Standing[]): Promise<void> {
  try {
    await deps.switches[layer].on(deps, kept)
    await untilStanding(deps, layer, wanted)
  } catch (cause) {
    const message = `THE LAYER ${layer} IS NOT BACK: ${messageOf(cause)}; "make up" and the next "make attack" put it back`
    throw new AppError('unavailable', message, { cause })
  }
}

/**
 * Puts back what an earlier run left off; resolves to its name, or to undefined when there is nothing. Rejects when the file that
 * says so cannot be read.
 */
export async function putBackLayer(deps: Switching): Promise<LayerName | undefined> {
  const intent = await readIntent(deps.stateFolder)
  if (intent === undefined) return undefined
  if (intent === 'unreadable')
    throw new AppError('conflict', 'an earlier run left a layer off, and which one cannot be read: "make up" puts all back')
  await putBack(deps, intent, ['on', 'unknown'])
  return intent.layer
}

/**
 * The same after `make up` has applied everything of this version: what it applied counts, not what stood before, which may be
 * of another version. Where nobody knows which layer was off, each is put back.
 */
export async function forgetLayer(deps: Switching): Promise<readonly LayerName[]> {
  const intent = await readIntent(deps.stateFolder)
  if (intent === undefined) return []
  const layers = intent === 'unreadable' ? layerNames : [intent.layer]
  for (const layer of layers) await bringBack(deps, { layer, kept: [] }, ['on', 'unknown'])
  await forgetIntent(deps.stateFolder)
  return layers
}
