// The number of pods of a Deployment that has an autoscaler. Its manifest has no `replicas`, so that no comparison undoes the
// autoscaler. But a field that an apply no longer contains falls back to its default, one pod: an apply therefore repeats the
// number that runs. Pure.
// Source: https://kubernetes.io/docs/reference/using-api/server-side-apply/#transferring-ownership
import { deployments, horizontalPodAutoscalers } from '../../../api/builtin/index.ts'
import { isOf, type KubeObject } from '../../../api/resource.ts'
import { integerAt, objectAt, textAt } from '../../../lib/json/json-value.ts'
import type { Manifest } from '../rendering/desired.ts'

/** The least number of pods of each Deployment with an autoscaler, by the Deployment's name. */
export type Autoscaled = ReadonlyMap<string, number>

export function autoscaledBy(manifests: readonly Manifest[]): Autoscaled {
  const autoscalers = manifests.filter(manifest => isOf(horizontalPodAutoscalers, manifest))
  return new Map(
    autoscalers.flatMap(manifest => {
      const spec = objectAt(manifest, 'spec')
      const target = objectAt(spec, 'scaleTargetRef')
      const name = textAt(target, 'name')
      return name === undefined || textAt(target, 'kind') !== deployments.kind
        ? []
        : [[name, integerAt(spec, 'minReplicas') ?? 1]]
    }),
  )
}

/** Whether the manifest is a Deployment whose number of pods belongs to an autoscaler. */
export function isAutoscaled(manifest: Manifest, autoscaled: Autoscaled): boolean {
  return isOf(deployments, manifest) && autoscaled.has(manifest.metadata.name)
}

/**
 * What to apply: with the number of pods that runs, or with the least number where none runs. `live` must come from the API
 * server, just now.
 */
export function withReplicas(manifest: Manifest, live: KubeObject | undefined, autoscaled: Autoscaled): Manifest {
  if (!isAutoscaled(manifest, autoscaled)) return manifest
  const running = live === undefined ? 0 : (integerAt(objectAt(live, 'spec'), 'replicas') ?? 0)
  const replicas = running > 0 ? running : (autoscaled.get(manifest.metadata.name) ?? 1)
  return { ...manifest, spec: { ...objectAt(manifest, 'spec'), replicas } }
}
