// How the pods of builds with buildpacks are called and found: by the builder, by the network policy and by what deletes images.
// Data only.
import { domain } from './kind.ts'

/** On every pod of such a build; its value is the name of the build. */
export const buildpacksBuildLabel = `${domain}/buildpacks-build`

/** The containers of the pod, in the order in which they run. */
export const buildpacksBuildContainers = { prepare: 'prepare', build: 'build', export: 'export' } as const
