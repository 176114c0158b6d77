// What the standalone form needs of this machine: a folder for its data, as a volume.
import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type ClusterSettings, devClusterFolder } from '../../cluster/settings.ts'
import { type OverlayPart, patchOf } from './part.ts'

/** The user of the platform's pods. */
export const podUser = 65_532

const volumeName = 'sekisho-data'

export function dataFolder(settings: ClusterSettings): string {
  return join(devClusterFolder(settings), 'platform-data')
}

/** Also makes the data folder, owned by the pods' user. */
export async function standalonePart(settings: ClusterSettings): Promise<OverlayPart> {
  const path = dataFolder(settings)
  await mkdir(path, { recursive: true })
  await chown(path, podUser, podUser)
  const volume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volumeName },
    spec: {
      capacity: { storage: '5Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      claimRef: { name: volumeName, namespace: 'sekisho-system' },
      hostPath: { path, type: 'Directory' },
    },
  }
  const claim = patchOf(
    { kind: 'PersistentVolumeClaim', name: volumeName },
    { op: 'add', path: '/spec/volumeName', value: volumeName },
    { op: 'add', path: '/spec/storageClassName', value: '' },
  )
  return { objects: { volume }, patches: [claim] }
}
