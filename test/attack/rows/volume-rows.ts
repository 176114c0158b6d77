// Attacks by PersistentVolumeClaims: being bound to a volume that somebody else's data is on.
import {
  clusterAdministrator,
  controllerManager,
  controllers,
  dave,
  ephemeralVolumeController,
  scheduler,
  statefulSetController,
  volumeController,
} from '../identities.ts'
import type { Body, Existing } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const refused = expecting('volume-claims')
const claims = '/api/v1/namespaces/acme/persistentvolumeclaims'

function claim(name: string, spec: object = {}): Body {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  }
}

/** Ways of a claim to be bound to a volume of somebody else. */
export const volumeChoices: readonly (readonly [string, object])[] = [
  ['by its name', { volumeName: 'pv-of-globex' }],
  ['by labels', { selector: { matchLabels: { tenant: 'globex' } } }],
  ['without a class', { storageClassName: '' }],
]
/** The class before there was a field for it; Kubernetes reads it first. */
export const classless = { 'volume.beta.kubernetes.io/storage-class': '' }

const annotated = (name: string, annotations: object): Body => {
  const body = claim(name)
  return { ...body, metadata: { ...body.metadata, annotations } }
}

export const volumeFixtures: readonly Existing[] = [{ path: claims, object: claim('held') }]

export const volumeRows: readonly Row[] = [
  ...[
    dave,
    controllers,
    statefulSetController,
    ephemeralVolumeController,
    controllerManager,
    scheduler,
    volumeController,
  ].flatMap(as =>
    volumeChoices.map(([what, spec]) => refused.post(`${as.user} claims a volume ${what}`, as, claims, claim('c', spec))),
  ),
  ...[dave, controllers, statefulSetController].map(as =>
    refused.post(`${as.user} claims a volume without a class by the annotation`, as, claims, annotated('c', classless)),
  ),
  allowed.post(
    'dave claims a volume of a class by the annotation',
    dave,
    claims,
    annotated('c', { 'volume.beta.kubernetes.io/storage-class': 'standard' }),
  ),
  refused.patch('dave takes the class away later', dave, `${claims}/held`, { spec: { storageClassName: '' } }),
  ...[statefulSetController, ephemeralVolumeController, scheduler].map(as =>
    refused.patch(`${as.user} names the volume later`, as, `${claims}/held`, { spec: { volumeName: 'pv-of-globex' } }),
  ),
  ...[statefulSetController, ephemeralVolumeController].map(as =>
    allowed.post(`${as.user} claims a volume of the default class`, as, claims, claim('c')),
  ),
  refused.patch('dave names the volume later', dave, `${claims}/held`, { spec: { volumeName: 'pv-of-globex' } }),
  allowed.post('dave claims a volume of a class', dave, claims, claim('c', { storageClassName: 'standard' })),
  allowed.post('dave claims a volume of the default class', dave, claims, claim('c')),
  allowed.patch('dave labels a claim', dave, `${claims}/held`, { metadata: { labels: { a: 'b' } } }),
  ...[volumeController, controllerManager].map(as =>
    allowed.patch(`${as.user} binds a claim`, as, `${claims}/held`, { spec: { volumeName: 'pv-1' } }),
  ),
  allowed.post('a cluster administrator restores a volume', clusterAdministrator, claims, claim('c', { volumeName: 'pv-1' })),
]
