// Replaces the builder on a cluster without kpack: the controller works, but every start of a build is refused with the cure.
import type { Builder } from './builder.ts'

const message =
  'kpack is not installed on this cluster (the CRD builds.kpack.io does not exist): ask a platform admin to install it and to restart the controllers'

export const noBuilder: Builder = {
  start: () => Promise.resolve({ kind: 'refused', message }),
  observe: () => Promise.resolve({ kind: 'absent' }),
  cancel: () => Promise.resolve(),
  ofOwner: () => [],
  ofKey: () => [],
  running: () => [],
  known: () => false,
}
