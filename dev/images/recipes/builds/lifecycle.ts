// The image of a ClusterLifecycle: the buildpack lifecycle and its launcher in one layer, because kpack copies only the last
// layer. Its label lists only the API versions that lifecycle 0.20 supports.
import { lifecycleVersion } from '../../../cluster/binaries/catalog.ts'
import { diskFile } from '../../archive/read-tree.ts'
import { link, textFile } from '../../archive/tree-entry.ts'
import type { LayerPlan } from '../../blobs/build-layer.ts'
import type { Recipe, RecipeDeps } from '../recipe.ts'

/** One program with many names: the phases of a build (CNB platform specification, "Lifecycle Interface"). */
const phases = ['analyzer', 'detector', 'restorer', 'builder', 'exporter', 'creator', 'rebaser', 'extender']

function versions(from: number, to: number): readonly string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `0.${from + index}`)
}

const supported = { buildpack: versions(7, 11), platform: versions(7, 14) }
const metadata = { lifecycle: { version: lifecycleVersion }, api: { buildpack: '0.7', platform: '0.7' } }
const apis = {
  buildpack: { deprecated: [], supported: supported.buildpack },
  platform: { deprecated: [], supported: supported.platform },
}

const descriptor = `[api]
  platform = "0.7"
  buildpack = "0.7"
[apis.platform]
  deprecated = []
  supported = ${JSON.stringify(supported.platform)}
[apis.buildpack]
  deprecated = []
  supported = ${JSON.stringify(supported.buildpack)}
[lifecycle]
  version = "${lifecycleVersion}"
`

export const lifecycleLabels = {
  'io.buildpacks.builder.metadata': JSON.stringify(metadata),
  'io.buildpacks.lifecycle.apis': JSON.stringify(apis),
}

export async function lifecycleLayer({ binary }: RecipeDeps): Promise<LayerPlan> {
  const lifecycle = await binary('lifecycle', 'lifecycle')
  const launcher = await binary('lifecycle', 'launcher')
  return {
    name: 'lifecycle',
    key: ['1', lifecycle, descriptor, ...phases],
    entries: async () => [
      textFile('cnb/lifecycle/lifecycle.toml', descriptor),
      await diskFile('cnb/lifecycle/lifecycle', lifecycle, 0o755),
      await diskFile('cnb/lifecycle/launcher', launcher, 0o755),
      ...phases.map(phase => link(`cnb/lifecycle/${phase}`, 'lifecycle')),
    ],
  }
}

export const lifecycleImage: Recipe = async deps => ({
  repository: 'kpack/lifecycle',
  tag: lifecycleVersion,
  layers: [await lifecycleLayer(deps)],
  config: () => ({ user: '', environment: {}, labels: lifecycleLabels }),
})
