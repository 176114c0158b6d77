// Stands in where the cluster has no kpack: everything works but starting a build, which says what to do. Never pretends to build.
import type { Builder } from './builder.ts'

const message =
  'kpack is not installed on this cluster (it has no CRD builds.kpack.io): a platform admin installs it and restarts the controllers'

export const noBuilder: Builder = {
  start: () => Promise.resolve({ kind: 'refused', message }),
  observe: () => Promise.resolve({ kind: 'absent' }),
  cancel: () => Promise.resolve(),
  ofOwner: () => [],
  running: () => [],
  known: () => false,
}
