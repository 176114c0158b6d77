// A Halt for tests, in the namespace of the platform unless said otherwise. Test code only.
import type { Halt } from '../../api/github/halt.ts'
import { platformNamespace } from '../../api/names.ts'

export function haltObject(
  target: Halt['spec']['target'],
  change: { readonly namespace?: string; readonly spec?: Partial<Halt['spec']>; readonly status?: Halt['status'] } = {},
): Halt {
  return {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'Halt',
    metadata: {
      name: 'stop',
      namespace: change.namespace ?? platformNamespace,
      uid: 'halt-uid',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { target, reason: 'a token leaked', workloads: 'Keep', requestedBy: 'github|github.localhost|1', ...change.spec },
    ...(change.status === undefined ? {} : { status: change.status }),
  }
}
