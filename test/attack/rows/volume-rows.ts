// Attacks by PersistentVolumeClaims: being bound to a volume that somebody else's data is on.
import { clusterAdministrator, controllers, dave, volumeController } from '../identities.ts'
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

const choices: readonly (readonly [string, object])[] = [
  ['by its name', { volumeName: 'pv-of-globex' }],
  ['by labels', { selector: { matchLabels: { tenant: 'globex' } } }],
  ['without a class', { storageClassName: '' }],
]

export const volumeFixtures: readonly Existing[] = [{ path: claims, object: claim('held') }]

export const volumeRows: readonly Row[] = [
  ...[dave, controllers].flatMap(as =>
    choices.map(([what, spec]) => refused.post(`${as.user} claims a volume ${what}`, as, claims, claim('c', spec))),
  ),
  refused.patch('dave names the volume later', dave, `${claims}/held`, { spec: { volumeName: 'pv-of-globex' } }),
  allowed.post('dave claims a volume of a class', dave, claims, claim('c', { storageClassName: 'standard' })),
  allowed.post('dave claims a volume of the default class', dave, claims, claim('c')),
  allowed.patch('dave labels a claim', dave, `${claims}/held`, { metadata: { labels: { a: 'b' } } }),
  allowed.patch('Kubernetes binds a claim', volumeController, `${claims}/held`, { spec: { volumeName: 'pv-1' } }),
  allowed.post('a cluster administrator restores a volume', clusterAdministrator, claims, claim('c', { volumeName: 'pv-1' })),
]
