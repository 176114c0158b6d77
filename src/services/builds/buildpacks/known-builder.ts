// What a build in a pod of ours has to know of its builder before it runs: on which run image it builds, as whom, and the
// buildpacks whose layers may be restored. Read from the ClusterBuilder and from the builder image, by digest. A builder of which
// that is not known, such as an image in a registry that only kpack reads, is left to kpack. Pure.
import { asObject, type JsonObject, listAt, objectAt, parseJson, textAt } from '../../../lib/json/json-value.ts'
import { digestOf } from '../../../lib/text/image-digest.ts'
import type { BuilderImage } from '../kpack/build-manifest.ts'
import type { LabelAnswer } from '../kpack/image-commit.ts'

export type KnownBuilder = Required<BuilderImage> & {
  readonly user: number
  readonly group: number
  /** The ids of its buildpacks. */
  readonly buildpacks: readonly string[]
}

/** The version of the contract between the phases of a build: the newest that kpack speaks, so that images are the same. */
export const platformApi = '0.9'
/** An id (https://github.com/buildpacks/spec/blob/main/buildpack.md) that cannot lead out of a folder. */
const buildpackId = /^[A-Za-z0-9][A-Za-z0-9-]*([./][A-Za-z0-9-]+)*$/
const maxBuildpacks = 500
/** Source of both: https://github.com/buildpacks/spec/blob/main/distribution.md */
const layersLabel = 'io.buildpacks.buildpack.layers'
const apisLabel = 'io.buildpacks.lifecycle.apis'

function apisOf(answer: LabelAnswer, of: 'buildpack' | 'platform'): readonly unknown[] {
  const apis = answer.kind === 'labels' ? objectAt(parseJson(answer.labels[apisLabel] ?? ''), of) : undefined
  return ['supported', 'deprecated'].flatMap(field => listAt(apis, field))
}

/** The versions of the buildpack API that a buildpack, in all its versions, asks for. */
function apisOfBuildpack(versions: unknown): readonly string[] {
  return Object.values(asObject(versions) ?? {}).map(version => textAt(asObject(version), 'api') ?? '')
}

/** `phases`: the image of the phases that do not run in the builder image. Text: why the builder is not known. */
export function knownBuilder(builder: BuilderImage, image: LabelAnswer, phases: LabelAnswer): KnownBuilder | string {
  const { stack, runImage } = builder
  if (stack === undefined || runImage === undefined || digestOf(runImage) === undefined)
    return 'its stack and its run image by digest are not known'
  if (image.kind === 'unreadable') return `its image cannot be read: ${image.message}`
  if (image.lifecycleUser === undefined) return 'its image names no CNB_USER_ID and CNB_GROUP_ID'
  if (!apisOf(image, 'platform').includes(platformApi)) return `its lifecycle does not support platform API ${platformApi}`
  const layers: JsonObject = asObject(parseJson(image.labels[layersLabel] ?? '')) ?? {}
  const buildpacks = Object.keys(layers).sort()
  if (buildpacks.length === 0 || buildpacks.length > maxBuildpacks || !buildpacks.every(id => buildpackId.test(id)))
    return `its image has no usable label ${layersLabel}`
  const supported = apisOf(phases, 'buildpack')
  const foreign = Object.values(layers)
    .flatMap(apisOfBuildpack)
    .find(api => !supported.includes(api))
  if (foreign !== undefined) return `the image of SEKISHO_BUILDPACKS_IMAGE does not support buildpack API ${foreign}`
  return { ...builder, stack, runImage, ...image.lifecycleUser, buildpacks }
}
