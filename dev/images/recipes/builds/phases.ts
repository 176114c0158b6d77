// The image of the phases of a build with buildpacks that run beside the builder image: the lifecycle, kpack's build-init, which
// fetches the source, and the three programs of dev/images/phases. It brings the programs of all that has the registry
// credential, whoever made the builder.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lifecycleVersion } from '../../../cluster/binaries/catalog.ts'
import { type TreeEntry, textFile } from '../../archive/tree-entry.ts'
import type { LayerPlan } from '../../blobs/build-layer.ts'
import { certificateBundle, searchPath } from '../../image/image-plan.ts'
import { authorityLayers, baseLayer, certificateLayer } from '../base-layers.ts'
import { contentKey } from '../buildpack.ts'
import type { Recipe, RecipeDeps } from '../recipe.ts'
import { buildProgramLayer } from './kpack.ts'
import { lifecycleLabels, lifecycleLayer } from './lifecycle.ts'

/** `build` runs in the builder image: it is copied there. */
const programs = { prepare: 'usr/local/bin', export: 'usr/local/bin', build: 'usr/local/lib/sekisho' } as const

async function programsLayer({ repositoryFolder }: RecipeDeps): Promise<LayerPlan> {
  const read = async ([name, folder]: readonly [string, string]): Promise<TreeEntry> =>
    textFile(`${folder}/${name}`, await readFile(join(repositoryFolder, 'dev', 'images', 'phases', name), 'utf8'), 0o755)
  const entries = await Promise.all(Object.entries(programs).map(read))
  return { name: 'programs of the phases', key: ['1', await contentKey(entries)], entries: async () => entries }
}

export const phasesImage: Recipe = async deps => ({
  repository: 'cnb/phases',
  tag: lifecycleVersion,
  layers: [
    await baseLayer(deps),
    await certificateLayer(),
    ...(await authorityLayers(deps)),
    await lifecycleLayer(deps),
    await buildProgramLayer(deps),
    await programsLayer(deps),
  ],
  config: () => ({
    user: '65532:65532',
    environment: { PATH: `${searchPath}:/cnb/process`, SSL_CERT_FILE: certificateBundle },
    labels: {
      ...lifecycleLabels,
      'org.opencontainers.image.title': 'sekisho-phases',
      'org.opencontainers.image.licenses': 'Apache-2.0',
    },
  }),
})
