// The development overlay of deploy/standalone, written into the state folder: image, settings, addresses and a volume on this machine.
// A real cluster has its own overlay of the same form: docs/guide/install.md.
import { createHash } from 'node:crypto'
import { chown, mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { stringify } from 'yaml'
import type { ClusterSettings } from '../cluster/settings.ts'
import { githubPort } from './github.ts'

/** The user of the platform's pod. */
export const podUser = 65_532

type OverlayOptions = {
  readonly settings: ClusterSettings
  /** The image with its digest. */
  readonly image: string
  readonly environment: Readonly<Record<string, string>>
}

/** Resolves to the folder to apply. Also makes the data folder of the volume, owned by the pod's user. */
export async function writeOverlay(options: OverlayOptions): Promise<string> {
  const { settings } = options
  const folder = join(settings.stateFolder, 'deploy')
  const data = join(settings.stateFolder, 'cluster', 'platform-data')
  await mkdir(folder, { recursive: true })
  await mkdir(data, { recursive: true })
  await chown(data, podUser, podUser)
  const write = (name: string, object: unknown): Promise<void> => writeFile(join(folder, name), stringify(object))
  await write('settings.yaml', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'sekisho-settings', namespace: 'sekisho-system' },
    data: options.environment,
  })
  await write('volume.yaml', {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'sekisho-data' },
    spec: {
      capacity: { storage: '5Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      claimRef: { name: 'sekisho-data', namespace: 'sekisho-system' },
      hostPath: { path: data, type: 'Directory' },
    },
  })
  const [imageName, digest] = options.image.split('@')
  await write('kustomization.yaml', {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [relative(folder, join(settings.repository, 'deploy/standalone')), 'settings.yaml', 'volume.yaml'],
    images: [{ name: 'sekisho/sekisho', newName: imageName, digest }],
    patches: [
      {
        target: { kind: 'Service', name: 'sekisho-broker' },
        patch: stringify([{ op: 'add', path: '/spec/externalIPs', value: [settings.nodeAddress] }]),
      },
      {
        target: { kind: 'PersistentVolumeClaim', name: 'sekisho-data' },
        patch: stringify([
          { op: 'add', path: '/spec/volumeName', value: 'sekisho-data' },
          { op: 'add', path: '/spec/storageClassName', value: '' },
        ]),
      },
      ...networkPatches(settings),
      {
        // The process reads its settings at start only: a changed setting must replace the pod.
        target: { kind: 'Deployment', name: 'sekisho' },
        patch: stringify([
          {
            op: 'add',
            path: '/spec/template/metadata/annotations',
            value: { 'sekisho.dev/settings': settingsDigest(options.environment) },
          },
        ]),
      },
    ],
  })
  return folder
}

/**
 * What only this cluster knows: the API server calls the webhook from the node; its pods do not call the broker; the registry and GitHub are
 * ports of the node.
 */
function networkPatches(settings: ClusterSettings): readonly object[] {
  const node = [settings.nodeAddress, settings.podGateway].map(address => ({ ipBlock: { cidr: `${address}/32` } }))
  const port = (number: number) => ({ protocol: 'TCP', port: number })
  const patch = (name: string, operation: object): object => ({
    target: { kind: 'NetworkPolicy', name },
    patch: stringify([operation]),
  })
  return [
    patch('sekisho-admission', { op: 'replace', path: '/spec/ingress', value: [{ from: node, ports: [port(9443)] }] }),
    patch('sekisho-broker', { op: 'add', path: '/spec/ingress/0/from/0/ipBlock/except', value: [settings.podCidr] }),
    patch('sekisho-egress', {
      op: 'add',
      path: '/spec/egress/-',
      value: { to: node, ports: [settings.registryPort, githubPort].map(port) },
    }),
  ]
}

function settingsDigest(environment: Readonly<Record<string, string>>): string {
  return createHash('sha256').update(JSON.stringify(environment)).digest('hex').slice(0, 16)
}
