// The images of this project by name, in the order of the builds: small and early needed images first.
import { buildkitImage } from './buildkit.ts'
import { buildpackImage, buildpacks } from './buildpack.ts'
import { kpackImage } from './builds/kpack.ts'
import { lifecycleImage } from './builds/lifecycle.ts'
import { phasesImage } from './builds/phases.ts'
import { platformImage } from './platform.ts'
import type { Recipe } from './recipe.ts'
import { buildImage, runImage } from './stack.ts'

export const recipes = {
  run: runImage,
  build: buildImage,
  prepare: buildpackImage(buildpacks.prepare),
  packages: buildpackImage(buildpacks.packages),
  node: buildpackImage(buildpacks.node),
  python: buildpackImage(buildpacks.python),
  static: buildpackImage(buildpacks.static),
  sekisho: platformImage,
  buildkit: buildkitImage,
  phases: phasesImage,
  lifecycle: lifecycleImage,
  kpack: kpackImage,
} as const satisfies Record<string, Recipe>

export type ImageName = keyof typeof recipes

export const imageNames = Object.keys(recipes).filter(isImageName)

export function isImageName(name: string): name is ImageName {
  return Object.hasOwn(recipes, name)
}
