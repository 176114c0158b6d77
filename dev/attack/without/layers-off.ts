// `make attack --without`: the attacks once with all layers, and once more without each of those that were asked for, one after
// the other. Only on the local cluster.
import { AppError } from '../../../src/lib/errors.ts'
import { adminClientFor } from '../../cluster/control-plane/admin-client.ts'
import { adminKubeconfig } from '../../cluster/settings.ts'
import { type LayerName, layerSwitches } from '../../up/layers/list.ts'
import { putBackLayer, switchingOf, withoutLayer } from '../../up/layers/switch.ts'
import type { Attack, AttemptResult } from '../attack.ts'
import { podsMeet } from '../inside/network.ts'
import { type Playing, playAttacks } from '../play.ts'
import { type Layer, layers } from '../verdict.ts'
import { rolesWork, type World } from '../world/world.ts'
import { compareRuns } from './compare.ts'
import type { Without } from './report.ts'

/** They look for what is switched off here. */
const findsIt = ['walls/silent']
const anyLayer = Object.keys(layers) as Layer[]

type Local = Pick<Playing, 'settings' | 'progress'>

/** Throws on a cluster of the user's, and where there are no pods. */
export function requireLocalCluster({ givenKubeconfig, root }: Local['settings']): void {
  if (givenKubeconfig !== undefined)
    throw new AppError(
      'invalid_request',
      '--without switches a wall off, which it does on the local cluster only: unset KUBECONFIG',
    )
  if (!root) throw new AppError('invalid_request', '--without needs the local cluster with pods, which runs as root')
}

/** Call before anything is played: a run that was killed may have left a layer off. */
export async function putBackLeftOver(local: Local): Promise<void> {
  if (local.settings.givenKubeconfig !== undefined) return
  const admin = await adminClientFor(adminKubeconfig(local.settings))
  try {
    const layer = await putBackLayer(switchingOf(local, admin))
    if (layer !== undefined) local.progress.note(`the layer ${layer}, which an earlier run left off, is back`)
  } finally {
    await admin.close()
  }
}

/** Resolves when the layer is back, also after an interruption. */
export async function playWithout(
  playing: Playing,
  layer: LayerName,
  { attacks, before }: { readonly attacks: readonly Attack[]; readonly before: readonly AttemptResult[] },
): Promise<Without> {
  const { progress } = playing
  // Stopped by another layer than usual is what is looked for here.
  const again = attacks.filter(({ name }) => !findsIt.includes(name)).map(attack => ({ ...attack, expected: anyLayer }))
  const { what, alarm } = layerSwitches(playing.settings.repository)[layer]
  const { results } = await playAttacks(playing, again, async (world: World, attack) => {
    // It may not start without the layer.
    await world.probe({ kind: 'environment' })
    const deps = { ...switchingOf(playing, world.admin), podsMeet: () => podsMeet(world) }
    progress.note(`switching off ${layer}: ${what}; expected meanwhile: ${alarm}`)
    const played = await withoutLayer(deps, layer, async () => {
      await rolesWork(world.api)
      return attack()
    })
    progress.note(`${layer} is back`)
    return played
  })
  const compared = before.filter(({ attack }) => !findsIt.includes(attack))
  return { layer, what, alarm, ...compareRuns(compared, results) }
}
