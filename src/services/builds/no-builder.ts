// Replaces a builder that the cluster does not have: the controller works, but every start of a build is refused with the cure.
import type { Builder } from './builder.ts'

export const kpackMissing =
  'kpack is not installed on this cluster (the CRD builds.kpack.io does not exist): ask a platform admin to install it and to restart the controllers'

export const buildkitMissing =
  'Dockerfiles are not built on this platform: use the strategy Buildpacks, or ask a platform admin to set SEKISHO_BUILDKIT_IMAGE'

/** `message`: what is missing, and what to do about it. */
export function noBuilder(message: string): Builder {
  return {
    start: () => Promise.resolve({ kind: 'refused', message }),
    observe: () => Promise.resolve({ kind: 'absent' }),
    cancel: () => Promise.resolve(),
    ofOwner: () => [],
    ofKey: () => [],
    running: () => [],
    logged: () => [],
    known: () => false,
  }
}
