// kpack in one image: its two servers and the three programs that kpack runs in build pods (their paths are compiled into kpack).
// It contains only static programs, certificates and a temporary folder.
import { kpackVersion } from '../../../cluster/binaries/catalog.ts'
import { diskFile } from '../../archive/read-tree.ts'
import type { LayerPlan } from '../../blobs/build-layer.ts'
import { certificateBundle, searchPath } from '../../image/image-plan.ts'
import { authorityLayers, certificateLayer } from '../base-layers.ts'
import type { Recipe, RecipeDeps } from '../recipe.ts'

async function programLayer(deps: RecipeDeps, name: string, into: string, programs: readonly string[]): Promise<LayerPlan> {
  const files: { readonly program: string; readonly path: string }[] = []
  for (const program of programs) files.push({ program, path: await deps.binary('kpack', program) })
  return {
    name,
    key: ['1', into, ...files.map(file => file.path)],
    entries: () => Promise.all(files.map(file => diskFile(`${into}${file.program}`, file.path, 0o755))),
  }
}

/** Their paths are compiled into kpack. */
export function buildProgramLayer(deps: RecipeDeps): Promise<LayerPlan> {
  return programLayer(deps, 'kpack build programs', 'cnb/process/', ['build-init', 'completion', 'rebase'])
}

export const kpackImage: Recipe = async deps => ({
  repository: 'kpack/kpack',
  tag: kpackVersion,
  layers: [
    await certificateLayer(),
    ...(await authorityLayers(deps)),
    await buildProgramLayer(deps),
    await programLayer(deps, 'kpack controller', '', ['controller']),
    await programLayer(deps, 'kpack webhook', '', ['webhook']),
  ],
  config: () => ({ user: '65532:65532', environment: { PATH: searchPath, SSL_CERT_FILE: certificateBundle } }),
})
