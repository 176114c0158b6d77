// How the pods of Dockerfile builds are called and found: by the builder, by the network policy and by the admission rule about
// them. Data only.
import { domain } from './kind.ts'

/** On every pod of a Dockerfile build; its value is the name of the build. */
export const dockerfileBuildLabel = `${domain}/dockerfile-build`

/** On the pod of a build: the repository to which it pushes. */
export const imageRepositoryAnnotation = `${domain}/image-repository`

/** The containers of the pod, in the order of their work; `daemon` runs beside `build`. */
export const dockerfileBuildContainers = { source: 'source', daemon: 'buildkitd', build: 'build' } as const

/**
 * The ServiceAccount that build pods run as. It has no permissions, its pods get no token, and it names the registry credential
 * for kpack.
 */
export const builderServiceAccount = 'builder'
