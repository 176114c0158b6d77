// The two images of the buildpack stack: the one in which apps are built and the one in which they run. Both have Node.js, npm
// (commands of a Procfile call it) and Python; only the first one has pip, compilers and apt. They contain no credential and
// run as an unprivileged user, with the ids that the stack declares to the lifecycle.
import { defaultImageUser } from '../../../src/lib/limits/user-range.ts'
import { certificateBundle, type ImageConfig, searchPath } from '../image/image-plan.ts'
import { authorityLayers, baseLayer, certificateLayer, nodeLayer, npmLayer, pythonLayer } from './base-layers.ts'
import { aptLayer, compilerLayer } from './build-tools.ts'
import type { Recipe } from './recipe.ts'
import { runEnvironmentLayer, runVariables } from './run-environment.ts'

/** Connects build and run image (CNB platform specification, "Stacks"; kpack requires the label on both). */
export const stackId = 'dev.sekisho.stack'

const user = defaultImageUser

const certificates = { SSL_CERT_FILE: certificateBundle, NODE_EXTRA_CA_CERTS: certificateBundle }

function stackConfig(environment: Readonly<Record<string, string>>): ImageConfig {
  return {
    user: `${user}:${user}`,
    environment: {
      PATH: searchPath,
      CNB_USER_ID: String(user),
      CNB_GROUP_ID: String(user),
      CNB_STACK_ID: stackId,
      ...environment,
    },
    labels: {
      'io.buildpacks.stack.id': stackId,
      'io.buildpacks.base.distro.name': 'debian',
      'io.buildpacks.base.distro.version': '12',
    },
  }
}

export const buildImage: Recipe = async deps => ({
  repository: 'cnb/build',
  tag: '1',
  layers: [
    await baseLayer(deps),
    await certificateLayer(),
    await runEnvironmentLayer(deps),
    await nodeLayer(deps),
    await npmLayer(deps),
    await pythonLayer(deps, { withPip: true }),
    await compilerLayer(deps),
    await aptLayer(deps),
    ...(await authorityLayers(deps)),
  ],
  config: () => stackConfig({ ...certificates, LANG: runVariables.LANG }),
})

export const runImage: Recipe = async deps => ({
  repository: 'cnb/run',
  tag: '1',
  layers: [
    await baseLayer(deps),
    await certificateLayer(),
    await runEnvironmentLayer(deps),
    await nodeLayer(deps),
    await npmLayer(deps),
    await pythonLayer(deps, { withPip: false }),
  ],
  config: () => stackConfig({ ...certificates, ...runVariables, NODE_ENV: 'production' }),
})
