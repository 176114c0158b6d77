// The pod of a build as the API server shows it, for tests of builders whose builds are pods.
import type { ContainerStatus, Pod } from '../../../../api/builtin/index.ts'
import { defined } from '../../../../lib/json/defined.ts'
import type { BuildPod } from '../build-pod.ts'

export type State = ContainerStatus['state']

export function status(name: string, state: State): ContainerStatus {
  return { name, ready: false, restartCount: 0, image: '', imageID: '', ...defined({ state }) }
}

/** `states`: of its containers, of which `main` is not an init container. */
export function observedPod(
  manifest: BuildPod,
  main: string,
  more: Pod['status'],
  states: Readonly<Record<string, State>> = {},
): Pod {
  const all = Object.entries(states).map(([name, state]) => status(name, state))
  return {
    ...manifest,
    metadata: { ...manifest.metadata, creationTimestamp: '2026-01-01T00:00:00Z' },
    status: {
      startTime: '2026-01-01T00:00:01Z',
      initContainerStatuses: all.filter(({ name }) => name !== main),
      containerStatuses: all.filter(({ name }) => name === main),
      ...more,
    },
  }
}
