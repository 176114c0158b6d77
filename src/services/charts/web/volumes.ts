// The volumes of an Application: their PersistentVolumeClaims, and what a pod that mounts them needs.
import type { Chart } from 'cdk8s'
import { k8s } from 'cdk8s-plus-33'
import { whenDeletedAnnotation } from '../../../api/names.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { ChartInput, ChartProcess, ChartVolume } from '../chart-input.ts'
import { volumeClaimName } from './names.ts'
import { quantity } from './quantities.ts'

/** A new volume belongs to root. This group may write to it, and the pod is a member of it whatever user the image runs as. */
const volumeGroup = 1000

/** What a pod has for its volumes. */
export type Mounts = {
  readonly volumes: k8s.Volume[]
  readonly volumeMounts: k8s.VolumeMount[]
  readonly security: Pick<k8s.PodSecurityContext, 'fsGroup' | 'fsGroupChangePolicy'>
}

function volumesOf({ volumes = [] }: ChartInput, { name }: Pick<ChartProcess, 'name'>): readonly ChartVolume[] {
  return volumes.filter(({ processes = ['web'] }) => processes.includes(name))
}

/** Whether the process mounts a volume that only one pod can mount. */
export function isExclusive(input: ChartInput, process: Pick<ChartProcess, 'name'>): boolean {
  return volumesOf(input, process).some(({ accessMode }) => accessMode === 'ReadWriteOnce')
}

export function mountsOf(input: ChartInput, process: Pick<ChartProcess, 'name'>): Mounts {
  const mounted = volumesOf(input, process)
  const volumeOf = ({ name }: ChartVolume): string => `volume-${name}`
  return {
    volumes: mounted.map(volume => ({
      name: volumeOf(volume),
      persistentVolumeClaim: { claimName: volumeClaimName(input.name, volume.name) },
    })),
    volumeMounts: mounted.map(volume => ({ name: volumeOf(volume), mountPath: volume.path })),
    security: mounted.length === 0 ? {} : { fsGroup: volumeGroup, fsGroupChangePolicy: 'OnRootMismatch' },
  }
}

export function addVolumeClaim(chart: Chart, input: ChartInput, volume: ChartVolume): void {
  new k8s.KubePersistentVolumeClaim(chart, `volume-${volume.name}`, {
    metadata: {
      name: volumeClaimName(input.name, volume.name),
      annotations: { [whenDeletedAnnotation]: volume.whenDeleted },
    },
    spec: {
      accessModes: [volume.accessMode],
      ...defined({ storageClassName: volume.storageClass }),
      resources: { requests: { storage: quantity(volume.size) } },
    },
  })
}
